/** What a list shows of the states of its records. */

import { everyState } from "../api/adapter";
import type { Resource, State } from "../api/description";
import { type Args, type Schema, typesOf } from "../api/schema";

/** The tab with every record that is not in the trash. */
export const ALL = "all";

/** The argument of lists that selects states; absent where there is none. */
export const STATE_ARGUMENT = "status";

export function hasStates(resource: Resource, args: Args): boolean {
  return resource.states.length > 0 && STATE_ARGUMENT in args;
}

/** The name of a state in requests; where a schema spells it in its own way, so. */
export function requestName(state: State, schema: Schema = {}): string {
  const names = [...state.names, state.name];
  const spelled = (schema.enum ?? []).find((taken) => names.includes(String(taken).toLowerCase()) || names.includes(String(taken)));
  return spelled === undefined ? (names[0] ?? state.name) : String(spelled);
}

/** Whether a schema takes a state. */
export function takesState(state: State, schema: Schema = {}): boolean {
  if (schema.enum === undefined) return true;
  const names = [...state.names, state.name];
  return schema.enum.some((taken) => names.includes(String(taken)) || names.includes(String(taken).toLowerCase()));
}

/** The value of the argument for a tab. */
export function stateValue(tab: string, states: readonly State[], args: Args): string | string[] {
  const state = states.find((one) => one.name === tab);
  if (state !== undefined) return requestName(state);
  if (!takesSeveral(states, args)) return ALL;
  const taken = args[STATE_ARGUMENT]?.items?.enum;
  const kept = states.filter((one) => !one.trash && (taken === undefined || taken.includes(one.name)));
  return kept.map((one) => requestName(one));
}

/** Whether the argument takes several states. As long as its schema is not there, states with other names in requests tell. */
function takesSeveral(states: readonly State[], args: Args): boolean {
  const types = typesOf(args[STATE_ARGUMENT] ?? {});
  return types.length > 0 ? types.includes("array") : states.every((state) => requestName(state) === state.name);
}

/** The value that selects records in every state, the trash included, where the argument can say so. */
export function everyStateValue(resource: Resource, args: Args): string | string[] {
  return everyState(resource, args[STATE_ARGUMENT]);
}

/** How many records are in each state, from the answer to `_count_by`. */
export function countsOf(answer: readonly Record<string, unknown>[], states: readonly State[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of answer) {
    const told = String(row["value"]);
    const state = states.find((one) => one.name === told || one.names.includes(told) || one.name === told.toLowerCase());
    if (state !== undefined) counts.set(state.name, (counts.get(state.name) ?? 0) + Number(row["count"] ?? 0));
  }
  return counts;
}

/** States whose records `_count_by` has not counted, because the argument cannot select them together with others. */
export function uncounted(states: readonly State[], args: Args): State[] {
  if (takesSeveral(states, args)) return [];
  return states.filter((state) => !state.public && !state.review);
}

/** Records of all states that are not the trash. */
export function total(counts: ReadonlyMap<string, number>, states: readonly State[]): number {
  return states.filter((state) => !state.trash).reduce((sum, state) => sum + (counts.get(state.name) ?? 0), 0);
}

/** The colour of a state's badge. */
export function tone(state: State): "good" | "warn" | "bad" | "calm" | "plain" {
  if (state.trash) return "bad";
  if (state.public) return "good";
  if (state.review) return "warn";
  return state.private || state.draft ? "plain" : "calm";
}

/** States that somebody can put records into by choosing them. */
export function choosable(states: readonly State[], present: string | null): State[] {
  const targets = new Set(states.map((state) => state.schedules_to).filter((name) => name !== null));
  return states.filter((state) => !state.trash && !targets.has(state.name) && state.name !== present);
}

/** What takes a record out of the trash: the former state where requests can ask for it, else a draft. */
export function restoredTo(states: readonly State[]): string | null {
  const trash = states.find((state) => state.trash);
  if (trash === undefined) return null;
  // A verdict is taken back; one's own work begins again.
  if (moderated(states)) return `un${trash.name}`;
  return (states.find((state) => state.draft) ?? states.find((state) => !state.trash))?.name ?? null;
}

/** States are verdicts on what others have written, not steps of one's own work: they are one press away. */
export function moderated(states: readonly State[]): boolean {
  return states.some((state) => state.review) && states.some((state) => state.public) && !states.some((state) => state.draft);
}
