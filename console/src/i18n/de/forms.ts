import type { Texts } from "../index";

export const forms: Texts["forms"] = {};
