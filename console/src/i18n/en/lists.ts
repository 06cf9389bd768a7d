import type { Message } from "../index";

export const lists = {} satisfies Record<string, Message>;
