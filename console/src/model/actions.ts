/** What can be done with records: what the description says of operations and states, never of a resource. */

import { argument, type Item } from "../api/adapter";
import type { Operation, Resource, State } from "../api/description";
import { type Args, type Schema, typesOf } from "../api/schema";
import { choosable, restoredTo, STATE_ARGUMENT, takesState } from "./list-states";

/** Operations with screens, buttons or meanings of their own. */
const KNOWN = new Set([
  "list", "get", "create", "update", "delete", "import", "revisions", "revision", "delete_revision", "autosaves", "autosave", "edit", "replace", "preview_link",
]);

/** An operation on one record that needs nothing but the record. */
export interface Direct {
  name: string;
  operation: Operation;
  /** Arguments that have a single value. */
  body: Item;
}

export function directOperations(resource: Resource, args: Record<string, Args>): Direct[] {
  const { key } = resource;
  if (key === null) return [];
  return Object.entries(resource.operations).flatMap(([name, operation]) => {
    const [, below] = operation.path.split(`{${key}}`);
    // What names something below the record is no operation on the record.
    if (KNOWN.has(name) || operation.method === "GET" || below === undefined || below.includes("{")) return [];
    const needed = Object.entries(args[name] ?? {}).filter(([arg, schema]) => schema.required === true && !operation.path.includes(`{${arg}}`));
    const body: Item = {};
    for (const [arg, schema] of needed) {
      if (schema.enum?.length !== 1) return [];
      body[arg] = schema.enum[0];
    }
    return [{ name, operation, body }];
  });
}

/** Operations on the whole list that need nothing, such as ending all of what is listed. */
export function wholeOperations(resource: Resource, args: Record<string, Args>): { name: string; operation: Operation }[] {
  const { list } = resource.operations;
  if (list === undefined) return [];
  return Object.entries(resource.operations).flatMap(([name, operation]) => {
    if (KNOWN.has(name) || operation.method === "GET" || operation.path !== list.path) return [];
    const needed = Object.entries(args[name] ?? {}).some(([arg, schema]) => schema.required === true && !operation.path.includes(`{${arg}}`));
    return needed ? [] : [{ name, operation }];
  });
}

/** What deleting means for records in a state. */
export interface Removal {
  kind: "trash" | "delete";
  /** The query of the request. */
  query: Record<string, boolean>;
}

/** How records leave: to the trash where there is one, else, and from there, for good. Null: they do not. */
export function removal(resource: Resource, states: readonly State[], trashed: boolean): Removal | null {
  const operation = resource.operations["delete"];
  if (operation === undefined) return null;
  const force = operation.args.includes("force");
  const trash = states.some((state) => state.trash);
  if (trash && !trashed) return { kind: "trash", query: {} };
  return { kind: "delete", query: force ? { force: true } : {} };
}

/** Arguments of a deletion that somebody has to choose, such as who gets what a user has written. */
export function removalArguments(args: Args): [string, Schema][] {
  return Object.entries(args).filter(([, schema]) => schema.required === true);
}

/** Whether records can be put into states by hand. */
export function changesState(resource: Resource): boolean {
  return resource.operations["update"]?.args.includes(STATE_ARGUMENT) === true && resource.states.length > 0;
}

/** States that a record, or a selection, may be put into. */
export function targets(resource: Resource, states: readonly State[], present: string | null, args: Args): State[] {
  if (!changesState(resource)) return [];
  return choosable(states, present).filter((state) => takesState(state, args[STATE_ARGUMENT]));
}

/** The state that brings records back from the trash. */
export function restoring(resource: Resource, states: readonly State[]): string | null {
  return changesState(resource) ? restoredTo(states) : null;
}

/** Properties that refer to several records, such as terms: of a selection, some can be added to each or taken away. */
export function collections(resource: Resource, args: Args): [string, Schema][] {
  const shown = ([name]: [string, Schema]): boolean => resource.operations["update"]?.args.includes(name) === true && argument(resource, "list", "include");
  return Object.entries(args).filter(([name]) => resource.fields[name]?.relation?.many === true).filter(shown);
}

/** Whether a record can be the beginning of another one: people write such records, and they are neither files nor people. */
export function duplicates(resource: Resource): boolean {
  const create = resource.operations["create"];
  const written = create?.file === false && resource.operations["get"] !== undefined && resource.operations["update"] !== undefined;
  return written && resource.parent === null && !("get_me" in resource.operations) && (resource.supports.length > 0 || resource.states.length === 0);
}

/** Properties that a selection can be given a value of at once. */
export function settable(resource: Resource, args: Args): [string, Schema][] {
  return Object.entries(args).filter(([name, schema]) => {
    if (name === STATE_ARGUMENT || name === resource.key || resource.operations["update"]?.args.includes(name) !== true) return false;
    const types = typesOf(schema);
    const relation = resource.fields[name]?.relation;
    return schema.enum !== undefined || (types.length === 1 && types[0] === "boolean") || (relation !== undefined && !relation.many);
  });
}

