/** Revisions of a record: what they hold, and what is restored from them. */

import type { Item } from "../../api/adapter";
import { show } from "../../model/dates";
import type { Field } from "../../model/fields";
import { isObject } from "../../model/json-schema";
import { PASSWORD } from "../../model/roles";
import { equal, read, write } from "../../model/values";

export interface Revision {
  id: string;
  /** As the server says it, on the site's clock. */
  date: string;
  author: string | number | null;
  values: Record<string, unknown>;
  autosave: boolean;
}

/** Members that a revision has of its own, or never holds: they are not those of the record. */
const OWN = ["id", "author", "date", "date_gmt", "modified", "modified_gmt", "parent", "slug", "guid", "status", "link", "type", PASSWORD];

export function revisionFields(fields: Field[]): Field[] {
  return fields.filter((field) => !field.readOnly && !field.secret && !OWN.includes(field.path));
}

/** The values of a record that a revision or an autosave holds. */
export function heldValues(item: Item, fields: Field[]): Record<string, unknown> {
  const present = revisionFields(fields).filter((field) => Object.hasOwn(item, field.path));
  // A server whose revisions hold texts alone shows meta as if there were none.
  const others = present.some((field) => !field.wrapped && field.path !== META) || isFilled(item[META]);
  const held = present.filter((field) => field.path !== META || others);
  return Object.fromEntries(held.map((field) => [field.path, read(field, item[field.path])]));
}

const META = "meta";

function isFilled(value: unknown): boolean {
  return isObject(value) && Object.values(value).some((one) => one !== "" && one !== null && !(Array.isArray(one) && one.length === 0));
}

export function revisionOf(item: Item, fields: Field[]): Revision {
  const values = heldValues(item, fields);
  const author = item["author"];
  return {
    id: String(item["id"] ?? ""),
    date: String(item["modified"] ?? item["date"] ?? ""),
    author: typeof author === "number" || typeof author === "string" ? author : null,
    values,
    autosave: typeof item["slug"] === "string" && /-autosave-v\d+$/.test(item["slug"]),
  };
}

/** When a version was saved; with seconds where another one has the same minute. */
export function versionTime(date: string, list: Revision[], zone: string, language: string): string {
  const text = show(date, zone, language);
  const alike = list.filter((one) => show(one.date, zone, language) === text);
  const instant = Date.parse(`${date}Z`);
  return alike.length < 2 || Number.isNaN(instant) ? text : new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" }).format(instant);
}

/** The version that another one is compared with: the one before it. An autosave changes the record as it is. */
export function versionBefore(list: Revision[], revision: Revision): Revision | null {
  return revision.autosave ? null : (list.slice(list.indexOf(revision) + 1).find((one) => !one.autosave) ?? null);
}

/** The version that the record is now: the newest that was saved, where it holds what the record has. */
export function presentVersion(fields: Field[], list: Revision[], present: Record<string, unknown>): Revision | null {
  const newest = list.find((one) => !one.autosave);
  return newest === undefined || differingRows(fields, present, newest.values).length > 0 ? null : newest;
}

export interface Row {
  field: Field;
  before: unknown;
  after: unknown;
}

/** The fields that differ between two versions; `null`: there is none before. What one of them does not hold is not compared. */
export function differingRows(fields: Field[], before: Record<string, unknown> | null, after: Record<string, unknown>): Row[] {
  return revisionFields(fields)
    .filter((field) => Object.hasOwn(after, field.path) && (before === null || Object.hasOwn(before, field.path)))
    .filter((field) => !equal(before?.[field.path] ?? emptyOf(after[field.path]), after[field.path]))
    .map((field) => ({ field, before: before?.[field.path], after: after[field.path] }));
}

/** A first version is compared with nothing. */
function emptyOf(value: unknown): unknown {
  return typeof value === "string" ? "" : Array.isArray(value) ? [] : isObject(value) ? {} : null;
}

/** The body of the update that brings a version back. */
export function restoring(fields: Field[], present: Record<string, unknown>, revision: Revision): Record<string, unknown> {
  return Object.fromEntries(differingRows(fields, present, revision.values).map(({ field, after }) => [field.path, write(field, after)]));
}
