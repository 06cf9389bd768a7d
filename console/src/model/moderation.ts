/**
 * Records that wait for somebody to let them pass, such as what visitors wrote.
 *
 * A resource is moderated when its records wait in a state, pass to a public one, and are no drafts of anybody. What the
 * states stand for follows from what is declared of them.
 */

import type { Resource, State } from "../api/description";
import { isObject } from "../api/failure";

export interface Verdicts {
  waiting: State;
  passed: State;
  /** Refused, but neither waiting nor deleted, such as spam. */
  refused: State | null;
  trash: State | null;
}

export type VerdictName = "approve" | "hold" | "spam" | "trash" | "restore";

export interface Verdict {
  name: VerdictName;
  /** What the request says. */
  to: string;
  /** The state afterwards; null: the former one. */
  state: string | null;
}

/** What the states of a moderated resource stand for; null: it is not moderated. */
export function verdictsOf(resource: Resource, states: readonly State[]): Verdicts | null {
  if (resource.operations["update"] === undefined || resource.operations["list"] === undefined) return null;
  if (states.some((state) => state.draft || state.schedules_to !== null)) return null;
  const waiting = states.find((state) => state.review);
  const passed = states.find((state) => state.public);
  if (waiting === undefined || passed === undefined) return null;
  const trash = states.find((state) => state.trash) ?? null;
  const refused = states.find((state) => state !== waiting && !state.public && !state.private && !state.trash) ?? null;
  return { waiting, passed, refused, trash };
}

/** The name of a state in requests. */
export function written(state: State): string {
  return state.names[0] ?? state.name;
}

export function isState(state: State | null, value: string): boolean {
  return state !== null && (state.name === value || state.names.includes(value));
}

/** What may be decided about a record in a state, in the order of the buttons. */
export function choicesFor(verdicts: Verdicts, state: string): Verdict[] {
  const { waiting, passed, refused, trash } = verdicts;
  const to = (name: VerdictName, target: State | null): Verdict[] => (target === null || isState(target, state) ? [] : [{ name, to: written(target), state: target.name }]);
  const back = (from: State): Verdict => ({ name: "restore", to: `un${from.name}`, state: null });
  if (isState(trash, state) && trash !== null) return [back(trash), ...to("approve", passed), ...to("spam", refused)];
  if (isState(refused, state) && refused !== null) return [back(refused), ...to("approve", passed), ...to("trash", trash)];
  const pass = isState(passed, state) ? to("hold", waiting) : to("approve", passed);
  return [...pass, ...to("spam", refused), ...to("trash", trash)];
}

export function choiceFor(verdicts: Verdicts, state: string, name: VerdictName): Verdict | null {
  return choicesFor(verdicts, state).find((verdict) => verdict.name === name) ?? null;
}

/** What puts a record back into the state that it had. */
export function undoOf(states: readonly State[], before: string): string {
  const state = states.find((one) => isState(one, before));
  return state === undefined ? before : written(state);
}

/** One decision about several records, as it can be taken back: the former states by the ids that had them. */
export function undoGroups(states: readonly State[], before: ReadonlyMap<string, string>): { to: string; ids: string[] }[] {
  const groups = new Map<string, string[]>();
  for (const [id, state] of before) {
    const to = undoOf(states, state);
    groups.set(to, [...(groups.get(to) ?? []), id]);
  }
  return [...groups].map(([to, ids]) => ({ to, ids }));
}

/** Where the focus goes when a record leaves the list: to the one that takes its place, else to the last. */
export function nextAfter(ids: readonly string[], gone: ReadonlySet<string>, at: string): string | null {
  const place = ids.indexOf(at);
  const later = ids.slice(place + 1).find((id) => !gone.has(id));
  return later ?? ids.slice(0, Math.max(0, place)).findLast((id) => !gone.has(id)) ?? null;
}

// ---------------------------------------------------------------- what a record is about

/** Relations of links: what the record is about, and what it answers. */
export const SUBJECT = "up";
export const ANSWERS = "in-reply-to";
const PARENT = "parent";

export interface Subject {
  title: string;
  link: string | null;
  /** Address of the record. */
  href: string;
}

/** What a record is about, from the record that is embedded in it; else from its link alone. */
export function subjectOf(item: Record<string, unknown>, rel: string = SUBJECT): Subject | null {
  const href = linkOf(item, rel);
  if (href === null) return null;
  const embedded = isObject(item["_embedded"]) ? item["_embedded"][rel] : undefined;
  const record: unknown = Array.isArray(embedded) ? embedded[0] : undefined;
  if (!isObject(record)) return { title: "", link: null, href };
  const title = record["title"] ?? record["name"] ?? record["author_name"];
  const text = isObject(title) ? (title["rendered"] ?? title["raw"]) : title;
  return { title: typeof text === "string" ? text : "", link: typeof record["link"] === "string" ? record["link"] : null, href };
}

export function linkOf(item: Record<string, unknown>, rel: string): string | null {
  const links = isObject(item["_links"]) ? item["_links"][rel] : undefined;
  const first: unknown = Array.isArray(links) ? links[0] : undefined;
  return isObject(first) && typeof first["href"] === "string" ? first["href"] : null;
}

/** The last part of an address: the id of a record. */
export function idIn(href: string): string {
  return href.split(/[?#]/)[0]?.replace(/\/$/, "").split("/").pop() ?? "";
}

/**
 * The properties of an answer that place it: it answers the record, and is about the same subject. Null: the resource has
 * no answers. The property of the subject is the one that has the id of the subject's link.
 */
export function placeOfAnswer(resource: Resource, item: Record<string, unknown>): Record<string, unknown> | null {
  const args = resource.operations["create"]?.args ?? [];
  const key = resource.key;
  if (key === null || !args.includes(PARENT)) return null;
  const place: Record<string, unknown> = { [PARENT]: item[key] };
  const subject = linkOf(item, SUBJECT);
  if (subject === null) return place;
  const id = idIn(subject);
  const holder = args.find((name) => name !== PARENT && name !== "author" && (typeof item[name] === "number" || typeof item[name] === "string") && String(item[name]) === id);
  return holder === undefined ? null : { ...place, [holder]: item[holder] };
}
