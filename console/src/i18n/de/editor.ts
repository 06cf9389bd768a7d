import type { Texts } from "../index";

export const editor: Texts["editor"] = {};
