import type { Message } from "../index";

export const editor = {} satisfies Record<string, Message>;
