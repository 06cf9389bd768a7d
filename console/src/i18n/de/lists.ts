import type { Texts } from "../index";

export const lists: Texts["lists"] = {};
