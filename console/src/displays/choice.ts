/**
 * Which display shows which kind of value: the one that is declared, else by what the value refers to, its format, its
 * type; what is left is shown as JSON.
 */

import type { FieldHints, Resource } from "../api/description";
import { type Schema, typesOf } from "../api/schema";

export const DISPLAYS = [
  "text",
  "html",
  "boolean",
  "enum",
  "state",
  "date-time",
  "date",
  "timestamp",
  "number",
  "bytes",
  "colour",
  "image",
  "url",
  "email",
  "relation",
  "list",
  "code",
  "json",
] as const;

export type DisplayName = (typeof DISPLAYS)[number];

const FORMATS: Record<string, DisplayName> = {
  "date-time": "date-time",
  "date-time-local": "date-time",
  date: "date",
  uri: "url",
  url: "url",
  email: "email",
  "hex-color": "colour",
  color: "colour",
  html: "html",
  ip: "code",
  uuid: "code",
};

const TYPES: Record<string, DisplayName> = {
  string: "text",
  boolean: "boolean",
  integer: "number",
  number: "number",
  array: "list",
};

export function isDisplay(name: string | undefined): name is DisplayName {
  return DISPLAYS.some((one) => one === name);
}

export function displayOf(resource: Resource, field: string, hints: FieldHints, schema: Schema): DisplayName {
  if (isDisplay(hints.display)) return hints.display;
  if (hints.relation !== undefined) return "relation";
  if (field === "status" && resource.states.length > 0) return "state";
  const format = schema.format === undefined ? undefined : FORMATS[schema.format];
  if (format !== undefined) return format;
  const labelled = Object.keys(hints.labels ?? {}).length > 0;
  if (schema.enum !== undefined || labelled) return typesOf(schema).includes("array") ? "list" : "enum";
  const members = schema.properties;
  if (members !== undefined && ("rendered" in members || "raw" in members)) return "html";
  return typesOf(schema).map((type) => TYPES[type]).find((name) => name !== undefined) ?? "json";
}
