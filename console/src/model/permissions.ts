/**
 * What the caller may do with one record.
 *
 * The server says it in two ways: the methods of `Allow`, and the relations `…:action-…` in the record's `_links`. The
 * schema says which properties a relation is about; it lists all relations, whoever asks.
 */

import type { Field } from "./fields";
import { isObject, isSchema, type JsonSchema, type SchemaLink } from "./json-schema";

export interface Permissions {
  /** Names such as `publish`, `assign-author`. */
  actions: Set<string>;
  /** Properties that the caller may not change. */
  locked: Set<string>;
  /** Values of properties that the caller may not choose. */
  barred: Record<string, unknown[]>;
}

const ACTION = /(?:^|[:/])action-([^/:]+)$/;

export const PUBLISH = "publish";
export const UNFILTERED = "unfiltered-html";

/** Everything is allowed until the server has said otherwise: a new record has no links yet. */
export function unlimited(links: SchemaLink[]): Permissions {
  return { actions: new Set(links.map((link) => actionOf(link.rel)).filter((name) => name !== null)), locked: new Set(), barred: {} };
}

export function permissionsOf(links: SchemaLink[], record: Record<string, unknown>): Permissions {
  const given = isObject(record["_links"]) ? record["_links"] : {};
  const actions = new Set(Object.keys(given).map(actionOf).filter((name) => name !== null));
  return limited(links, actions);
}

/** The properties that some relation is about, and none that the caller has. */
export function limited(links: SchemaLink[], actions: Set<string>): Permissions {
  const locked = new Set<string>();
  const free = new Set<string>();
  const barred: Record<string, unknown[]> = {};
  for (const link of links) {
    const action = actionOf(link.rel);
    if (action === null) {
      continue;
    }
    for (const [name, target] of targetsOf(link)) {
      const values = Array.isArray(target.enum) ? target.enum : null;
      if (actions.has(action)) {
        free.add(name);
      } else if (values !== null) {
        barred[name] = [...(barred[name] ?? []), ...values];
      } else {
        locked.add(name);
      }
    }
  }
  for (const name of free) {
    locked.delete(name);
  }
  return { actions, locked, barred };
}

/** A property without a type of its own is not locked: the relation is about what its text may contain. */
function targetsOf(link: SchemaLink): [string, JsonSchema][] {
  return Object.entries(link.targetSchema?.properties ?? {}).filter((entry): entry is [string, JsonSchema] => isSchema(entry[1]) && entry[1].type !== undefined);
}

function actionOf(rel: string): string | null {
  return ACTION.exec(rel)?.[1] ?? null;
}

/** The fields as the caller has them. */
export function allowed(fields: Field[], permissions: Permissions): Field[] {
  return fields.map((field) => (permissions.locked.has(field.path) && !field.readOnly ? { ...field, readOnly: true } : field));
}

/** The methods that `Allow` names; null where there is no such header. */
export function methodsOf(allow: string | null): Set<string> | null {
  return allow === null ? null : new Set(allow.split(",").map((method) => method.trim().toUpperCase()));
}
