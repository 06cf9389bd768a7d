import type { Message } from "../index";

export const files = {} satisfies Record<string, Message>;
