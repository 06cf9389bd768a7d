/** Deciding about records, with a way back. */

import { api } from "../../api";
import type { BatchResult, Item } from "../../api/adapter";
import type { Resource, State } from "../../api/description";
import { t } from "../../i18n";
import { undoGroups, type VerdictName } from "../../model/moderation";
import { toast } from "../../ui";

/** The property that has the state. */
export const STATE = "status";

export interface Decision {
  name: VerdictName;
  to: string;
  items: Item[];
}

/** Writes a state into records; what was written can be taken back. The ids that were changed. */
export async function decide(resource: Resource, states: readonly State[], decision: Decision): Promise<string[]> {
  const { adapter } = api();
  const key = resource.key ?? "";
  const before = new Map(decision.items.map((item) => [String(item[key]), String(item[STATE])]));
  let result: BatchResult;
  try {
    result = await adapter.updateMany(resource, decision.items.map((item) => item[key] as string | number), { [STATE]: decision.to });
  } catch (error) {
    toast.failed(error);
    return [];
  }
  const done = result.done.map(({ id }) => String(id));
  const failure = result.failed[0]?.failure;
  if (failure !== undefined) toast.failed(failure);
  if (done.length > 0) {
    const undone = new Map([...before].filter(([id]) => done.includes(id)));
    last = { resource, states, before: undone };
    toast.done(t(`people.did_${decision.name}`, { count: done.length }), { label: t("ui.undo"), run: () => void undo() });
  }
  return done;
}

let last: { resource: Resource; states: readonly State[]; before: ReadonlyMap<string, string> } | null = null;

/** Takes the last decision back. */
export async function undo(): Promise<void> {
  if (last === null) {
    toast.info(t("people.nothing_to_undo"));
    return;
  }
  const { resource, states, before } = last;
  last = null;
  try {
    for (const { to, ids } of undoGroups(states, before)) {
      const { failed } = await api().adapter.updateMany(resource, ids, { [STATE]: to });
      if (failed[0] !== undefined) toast.failed(failed[0].failure);
    }
    toast.info(t("people.undone", { count: before.size }));
  } catch (error) {
    toast.failed(error);
  }
}
