/** Revisions of a record: what they hold, and what is restored from them. */

import type { Item } from "../../api/adapter";
import type { Field } from "../../model/fields";
import { isObject } from "../../model/json-schema";
import { equal, read, write } from "../../model/values";

export interface Revision {
  id: string;
  /** As the server says it, on the site's clock. */
  date: string;
  author: string | number | null;
  values: Record<string, unknown>;
  autosave: boolean;
}

/** Members that a revision has of its own: they do not stand for those of the record. */
const OWN = ["id", "author", "date", "date_gmt", "modified", "modified_gmt", "parent", "slug", "guid", "status", "link", "type"];

export function revisionFields(fields: Field[]): Field[] {
  return fields.filter((field) => !field.readOnly && !OWN.includes(field.path));
}

export function revisionOf(item: Item, fields: Field[]): Revision {
  const values = Object.fromEntries(revisionFields(fields).filter((field) => Object.hasOwn(item, field.path)).map((field) => [field.path, read(field, item[field.path])]));
  const author = item["author"];
  return {
    id: String(item["id"] ?? ""),
    date: String(item["modified"] ?? item["date"] ?? ""),
    author: typeof author === "number" || typeof author === "string" ? author : null,
    values,
    autosave: typeof item["slug"] === "string" && /-autosave-v\d+$/.test(item["slug"]),
  };
}

export interface Row {
  field: Field;
  before: unknown;
  after: unknown;
}

/** The fields that differ between two versions. */
export function differingRows(fields: Field[], before: Record<string, unknown>, after: Record<string, unknown>): Row[] {
  return revisionFields(fields)
    .filter((field) => Object.hasOwn(after, field.path) && !equal(before[field.path] ?? emptyOf(after[field.path]), after[field.path]))
    .map((field) => ({ field, before: before[field.path], after: after[field.path] }));
}

/** A first version is compared with nothing. */
function emptyOf(value: unknown): unknown {
  return typeof value === "string" ? "" : Array.isArray(value) ? [] : isObject(value) ? {} : null;
}

/** The body of the update that brings a version back. */
export function restoring(fields: Field[], present: Record<string, unknown>, revision: Revision): Record<string, unknown> {
  return Object.fromEntries(differingRows(fields, present, revision.values).map(({ field, after }) => [field.path, write(field, after)]));
}
