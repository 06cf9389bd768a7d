/** What came of a change to several records, as messages. */

import type { BatchResult, Id } from "../../api/adapter";
import { t } from "../../i18n";
import { toast } from "../../ui";

type DoneKey = "lists.changed_many" | "lists.deleted_many" | "lists.trashed_many" | "lists.restored_many";

/** Says how many were changed, and why others were not: each reason once. */
export function reportBatch(result: BatchResult, done: DoneKey, undo?: (ids: Id[]) => void): void {
  const ids = result.done.map((one) => one.id);
  const action = undo === undefined ? [] : { label: t("ui.undo"), run: () => undo(ids) };
  if (ids.length > 0) toast.done(t(done, { count: ids.length }), action);
  for (const [reason, count] of reasons(result)) toast.problem(t("lists.failed_many", { count, reason }));
}

export function reasons(result: BatchResult): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { failure } of result.failed) counts.set(failure.message, (counts.get(failure.message) ?? 0) + 1);
  return counts;
}
