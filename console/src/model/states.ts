/**
 * The states of records: which a person may choose, and what the buttons above a form do.
 *
 * Everything follows from what the declarations say of a state: public, private, draft, review, trash, and the state
 * that a time in the future leads to.
 */

import type { Resource, State } from "../api/description";
import type { Field } from "./fields";

export interface Step {
  /** The key of its text. */
  kind: "save" | "create" | "saveDraft" | "publish" | "schedule" | "submit" | "update" | "revert" | "publishNow";
  /** The state that is written; null: as it is in the form. */
  state: string | null;
  /** The date becomes the present. */
  now: boolean;
}

export interface Steps {
  primary: Step;
  secondary: Step | null;
  more: Step[];
}

export interface Situation {
  isNew: boolean;
  /** The state that the server has; null: none. */
  saved: string | null;
  /** The state that the form shows. */
  chosen: string | null;
  /** The date of the form is in the future. */
  future: boolean;
  /** The caller may publish. */
  mayPublish: boolean;
}

/** The states of a resource, with what the description says of them. */
export function statesOf(resource: Resource, all: State[]): State[] {
  return resource.states.map((name) => find(all, name)).filter((state) => state !== null);
}

/**
 * The same with the names that a field takes: some resources write states in their own way, such as "Publish". Its name
 * is the first then.
 */
export function named(states: State[], field: Field): State[] {
  return states.map((state) => {
    const own = [state.name, ...state.names].map((name) => name.toLowerCase());
    const taken = (field.choices ?? []).map((choice) => String(choice.value));
    const first = taken.find((value) => value === state.names[0] || value === state.name) ?? taken.find((value) => own.includes(value.toLowerCase()));
    return first === undefined ? state : { ...state, names: [first, ...state.names.filter((name) => name !== first)] };
  });
}

export function find(states: State[], name: string | null): State | null {
  return states.find((state) => state.name === name || (name !== null && state.names.includes(name))) ?? null;
}

/** The name that requests use. */
export function written(state: State): string {
  return state.names[0] ?? state.name;
}

/** The states that the form offers: those that the request takes and the caller may choose, with the current one. */
export function choosable(states: State[], field: Field, current: string | null, barred: unknown[]): State[] {
  const scheduled = new Set(states.map((state) => state.schedules_to).filter((name) => name !== null));
  return states.filter((state) => {
    if (state === find(states, current)) {
      return true;
    }
    const names = [state.name, ...state.names];
    const taken = field.choices === null || field.choices.some((choice) => names.includes(String(choice.value)));
    return taken && !state.trash && !scheduled.has(state.name) && !names.some((name) => barred.includes(name));
  });
}

const SAVE: Step = { kind: "save", state: null, now: false };

export function stepsOf(states: State[], at: Situation): Steps {
  if (states.length === 0) {
    return { primary: at.isNew ? { ...SAVE, kind: "create" } : SAVE, secondary: null, more: [] };
  }
  const saved = at.isNew ? null : find(states, at.saved);
  const chosen = find(states, at.chosen);
  const draft = states.find((state) => state.draft) ?? null;
  const open = states.find((state) => state.public && state.schedules_to !== null) ?? states.find((state) => state.public) ?? null;
  const unpublished = chosen === null || chosen.draft || chosen.review;
  if (!unpublished || open === null) {
    return settled(states, at, saved, chosen, draft, open);
  }
  // Somebody chose another state than the record has: the button says that, and nothing else.
  if (chosen !== null && (at.isNew ? chosen.review : chosen !== saved)) {
    const kind = chosen.review ? "submit" : saved === null || saved.draft || saved.review ? "saveDraft" : "revert";
    return { primary: { kind, state: null, now: false }, secondary: null, more: [] };
  }
  const save: Step = { kind: chosen?.review === true ? "update" : "saveDraft", state: chosen === null && draft !== null ? written(draft) : null, now: false };
  if (at.mayPublish) {
    return { primary: { kind: at.future && open.schedules_to !== null ? "schedule" : "publish", state: written(open), now: false }, secondary: save, more: [] };
  }
  const review = states.find((state) => state.review) ?? null;
  if (review !== null && chosen !== review) {
    return { primary: { kind: "submit", state: written(review), now: false }, secondary: save, more: [] };
  }
  return { primary: save, secondary: null, more: [] };
}

/** The record is published, scheduled, private or in a state of its own: or is to become so. */
function settled(states: State[], at: Situation, saved: State | null, chosen: State | null, draft: State | null, open: State | null): Steps {
  const fresh = at.isNew || saved === null || saved.draft || saved.review;
  const schedules = at.future && chosen?.public === true && chosen.schedules_to !== null;
  // A time that is over publishes what was to wait for it.
  const publishes = (fresh && chosen?.public === true) || (!at.isNew && isScheduled(states, chosen) && !at.future);
  const kind = schedules ? "schedule" : publishes ? "publish" : at.isNew ? "create" : "update";
  const more: Step[] = [];
  if (!fresh && saved !== null) {
    if (isScheduled(states, saved) && open !== null && at.mayPublish) {
      more.push({ kind: "publishNow", state: written(open), now: true });
    }
    if (draft !== null && !saved.trash) {
      more.push({ kind: "revert", state: written(draft), now: false });
    }
  }
  return { primary: { kind, state: null, now: false }, secondary: null, more };
}

/** Whether a step makes a record public, now or later. */
export function goesPublic(step: Step): boolean {
  return step.kind === "publish" || step.kind === "schedule" || step.kind === "publishNow";
}

export function isScheduled(states: State[], state: State | null): boolean {
  return state !== null && states.some((other) => other.schedules_to === state.name);
}
