import type { Message } from "../index";

export const dashboard = {
  create: "Create",
  declarations_filter: "Find a declaration",
  declarations_text: "What the server serves follows from these declarations. They are changed in their files.",
  declared: { one: "{count} declaration", other: "{count} declarations" },
  drafts: "Your drafts",
  health: "Health of the site",
  health_ok: "Everything that was checked is in order.",
  level_ok: "In order",
  level_problem: "Problem",
  level_warning: "Warning",
  line: "line {line}",
  no_problems: "The last reload had no problems.",
  noindex: "Search engines leave this whole site out (site.noindex).",
  nothing_waits: "Nothing to review.",
  problems: "Problems of the last reload",
  recent: "Recently changed",
  scheduled: "Scheduled",
  to_explorer: "Try requests in the explorer",
  waiting: "To review",
} satisfies Record<string, Message>;
