import type { Message } from "../index";

export const forms = {} satisfies Record<string, Message>;
