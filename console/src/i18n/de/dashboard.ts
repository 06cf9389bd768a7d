import type { Texts } from "../index";

export const dashboard: Texts["dashboard"] = {};
