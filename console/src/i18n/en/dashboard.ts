import type { Message } from "../index";

export const dashboard = {} satisfies Record<string, Message>;
