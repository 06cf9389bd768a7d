import type { Message } from "../index";

export const shell = {
  dashboard: "Overview",
  not_found: "There is no such page.",
  not_found_hint: "The address may be old, or you may not see what was there.",
  unsaved: "There are changes that are not saved. Leave all the same?",
} satisfies Record<string, Message>;
