/** Values of fields: comparing, reading from records and writing to them. */

import type { Field } from "./fields";
import { isObject } from "./json-schema";

/** Equal as JSON; the order of members does not count. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) {
    return true;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  }
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
  }
  return false;
}

/** What a form edits of a member of a record: the text of `{raw, rendered}`, otherwise the value itself. */
export function read(field: Field, value: unknown): unknown {
  if (field.wrapped) {
    return isObject(value) ? (value["raw"] ?? value["rendered"] ?? "") : (value ?? "");
  }
  return field.merges ? plain(field, value) : value;
}

/** Nothing is null, whatever the server shows in its place: an empty text for a number, false for a choice, a list for no members. */
function plain(field: Field, value: unknown): unknown {
  if (field.kind === "object") {
    if (Array.isArray(value) && value.length === 0) return field.nullable ? null : {};
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, within(field, name, inner)])) : value;
  }
  if (field.kind === "array" && Array.isArray(value)) {
    const { item } = field;
    return item === null ? value : value.map((inner) => plain(item, inner));
  }
  if (field.kind === "union" && isObject(value)) {
    const named = (child: Field): boolean => child.choices?.length === 1 && child.choices[0]?.value === value[child.name];
    const fitting = field.alternatives.find((alternative) => alternative.children.some(named));
    return fitting === undefined ? value : plain(fitting, value);
  }
  const isNothing = (value === "" && field.kind !== "string") || (value === false && field.kind !== "boolean");
  return isNothing && field.nullable ? null : value;
}

function within(field: Field, name: string, value: unknown): unknown {
  const child = field.children.find((one) => one.name === name);
  return child === undefined ? value : plain(child, value);
}

/** What a request says for a value that a form edited. */
export function write(field: Field, value: unknown): unknown {
  return field.wrapped ? { raw: value ?? "" } : value;
}

/** The values of a record's fields by path, as forms edit them. Members that the record does not have are left out. */
export function readRecord(fields: Field[], record: Record<string, unknown>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    if (Object.hasOwn(record, field.path)) {
      values[field.path] = read(field, record[field.path]);
    }
  }
  return values;
}

/** The body of a request: the members whose values differ from the original, and no others. */
export function changes(fields: Field[], original: Record<string, unknown>, values: Record<string, unknown>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const value = values[field.path];
    if (field.readOnly || value === undefined || equal(value, original[field.path])) {
      continue;
    }
    body[field.path] = write(field, field.merges ? memberChanges(original[field.path], value) : value);
  }
  return body;
}

/** Of an object that the server merges, only the members that differ. */
function memberChanges(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) {
    return after;
  }
  const changed = Object.entries(after).filter(([key, value]) => !equal(value, before[key]));
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null] as const)]);
}

/** The value that a control begins with when there is none: what the schema says, or the empty value of the kind. */
export function initial(field: Field): unknown {
  if (field.default !== undefined) {
    return structuredClone(field.default);
  }
  return field.nullable ? null : empty(field);
}

/** Nothing that somebody would have to choose: a number has no empty value, and of several choices none is taken. */
export function empty(field: Field): unknown {
  if (field.choices !== null && field.kind !== "array") {
    return field.choices.length === 1 ? field.choices[0]?.value : null;
  }
  switch (field.kind) {
    case "string":
      return "";
    case "integer":
    case "number":
      return null;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return Object.fromEntries(
        field.children
          .filter((child) => child.required || child.default !== undefined)
          .map((child) => [child.name, initial(child)] as const)
          .filter(([, value]) => value !== null),
      );
    case "map":
      return {};
    case "union":
      return field.alternatives[0] === undefined ? null : initial(field.alternatives[0]);
    case "any":
      return null;
  }
}

/** A copy of an object with one member changed; `undefined` takes it away. */
export function withMember(object: unknown, name: string, value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = isObject(object) ? { ...object } : {};
  if (value === undefined) {
    delete copy[name];
  } else {
    Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}
