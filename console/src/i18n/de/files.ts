import type { Texts } from "../index";

export const files: Texts["files"] = {};
