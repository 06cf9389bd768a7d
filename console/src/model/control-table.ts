/**
 * Which control edits which kind of value: one row each. `controls/index.ts` has the components to these names.
 *
 * The choice: what the declaration names (where the control serves the value), else a relation, else the format, else
 * the type, else JSON.
 */

import type { Field, Kind } from "./fields";
import type { JsonSchema } from "./json-schema";

export interface ControlRow {
  name: string;
  /** Formats of texts that it is chosen for. */
  formats: readonly string[];
  /** Kinds of values that it can edit. */
  kinds: readonly Kind[];
  /** A value with choices, one without, or either. */
  choices: "yes" | "no" | "any";
  /** A reference to other records, no such, or either. */
  relation: "yes" | "no" | "any";
  /** Whether it is chosen by kind; otherwise only by format, relation or name. */
  byKind: boolean;
  /** What `view.fields.NAME.options` may say. */
  options: JsonSchema;
}

const NONE: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

function options(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "object", properties, additionalProperties: false };
}

const PLACEHOLDER: JsonSchema = { description: "Text that an empty field shows.", type: "string" };
const PLAIN = { formats: [], choices: "no", relation: "no", byKind: false, options: NONE } as const;
const TEXT = { ...PLAIN, kinds: ["string"] } as const;

/** In the order of the choice: the first row that fits is taken. */
export const ROWS = [
  { ...TEXT, name: "state" },
  { ...TEXT, name: "slug" },
  { ...TEXT, name: "password" },
  { ...TEXT, name: "markup", formats: ["html", "markup"], options: options({ rows: { description: "Lines of the source view.", type: "integer", minimum: 2 }, reusable: { description: "Other contents may show the content of a record: editors offer it as a shared piece.", type: "boolean" } }) },
  { ...TEXT, name: "headline", options: options({ placeholder: PLACEHOLDER }) },
  { ...TEXT, name: "date-time", formats: ["date-time", "date-time-local"], options: options({ zone: { description: "`site`: times without a zone are the site's; `utc`: they are UTC.", type: "string", enum: ["site", "utc"], default: "site" }, form: { description: "`spaced`: times are `2026-01-31 09:30:00`, without a zone.", type: "string", enum: ["spaced"] } }) },
  { ...TEXT, name: "date", formats: ["date"], options: options({ form: { description: "`compact`: days are `20260131`.", type: "string", enum: ["compact"] } }) },
  { ...TEXT, name: "time", formats: ["time"], options: options({ form: { description: "`seconds`: times always have seconds, such as `09:30:00`.", type: "string", enum: ["seconds"] } }) },
  { ...TEXT, name: "time-zone" },
  { ...TEXT, name: "colour", formats: ["hex-color", "color"] },
  { ...TEXT, name: "e-mail", formats: ["email"], options: options({ placeholder: PLACEHOLDER }) },
  { ...TEXT, name: "address", formats: ["uri", "url"], options: options({ placeholder: PLACEHOLDER }) },
  { ...TEXT, name: "ip", formats: ["ip", "ipv4", "ipv6"] },
  { ...TEXT, name: "uuid", formats: ["uuid"] },
  { ...PLAIN, name: "file", kinds: ["integer", "string", "array"], relation: "any", options: options({ types: { description: "MIME types that may be chosen, such as `image`.", type: "array", items: { type: "string" } } }) },
  { ...PLAIN, name: "terms", kinds: ["array"], relation: "yes" },
  { ...PLAIN, name: "relation", kinds: ["integer", "string", "array"], relation: "yes", byKind: true, options: options({ placeholder: PLACEHOLDER }) },
  { ...PLAIN, name: "checkboxes", kinds: ["array"], choices: "yes", byKind: true },
  { ...PLAIN, name: "radio", kinds: ["string", "integer", "number"], choices: "yes" },
  { ...PLAIN, name: "select", kinds: ["string", "integer", "number"], choices: "yes", byKind: true },
  { ...TEXT, name: "multi-line", formats: ["textarea-field"], byKind: true, options: options({ rows: { description: "Lines that are shown.", type: "integer", minimum: 2 }, placeholder: PLACEHOLDER }) },
  { ...TEXT, name: "text", formats: ["text-field"], byKind: true, options: options({ placeholder: PLACEHOLDER }) },
  { ...PLAIN, name: "integer", kinds: ["integer"], byKind: true },
  { ...PLAIN, name: "number", kinds: ["number"], byKind: true },
  { ...PLAIN, name: "switch", kinds: ["boolean"], choices: "any", byKind: true },
  { ...PLAIN, name: "tokens", kinds: ["array"], byKind: true, options: options({ placeholder: PLACEHOLDER }) },
  { ...PLAIN, name: "list", kinds: ["array"], byKind: true },
  { ...PLAIN, name: "meta", kinds: ["object"] },
  { ...PLAIN, name: "object", kinds: ["object"], byKind: true },
  {
    ...PLAIN,
    name: "search-result",
    kinds: ["object"],
    options: options({
      title: { description: "Characters of a title that search engines show.", type: "integer", minimum: 1 },
      description: { description: "Characters of a description that search engines show.", type: "integer", minimum: 1 },
      width: { description: "Pixels of the width that networks want of a picture.", type: "integer", minimum: 1 },
      height: { description: "Pixels of the height that networks want of a picture.", type: "integer", minimum: 1 },
      hidden: { description: "The property that hides a record from search engines.", type: "string" },
    }),
  },
  { ...PLAIN, name: "union", kinds: ["union"], choices: "any", byKind: true },
  { ...PLAIN, name: "map", kinds: ["map"], byKind: true },
  { ...PLAIN, name: "json", kinds: ["any", "object", "map", "array", "union", "string", "integer", "number", "boolean"], choices: "any", relation: "any", byKind: true },
] as const satisfies readonly ControlRow[];

export type ControlName = (typeof ROWS)[number]["name"];

/** A text this long needs more than one line. */
const LONG = 5000;

/** Further conditions of the choice by kind. */
const WHEN: Partial<Record<ControlName, (field: Field) => boolean>> = {
  "multi-line": (field) => (field.bounds.maxLength ?? 0) >= LONG,
  tokens: (field) => field.item?.kind === "string" && field.item.control === "text",
};

const ALL: readonly (ControlRow & { name: ControlName })[] = ROWS;

/** The row of a name that a declaration gives. */
export function rowOf(name: string | undefined): (ControlRow & { name: ControlName }) | null {
  return ALL.find((row) => row.name === name) ?? null;
}

export function chooseControl(field: Field, named: string | undefined): ControlName {
  const row = rowOf(named);
  if (row !== null && row.kinds.includes(field.kind)) {
    return row.name;
  }
  const fitting = ALL.filter((other) => serves(other, field));
  const byRelation = field.relation === null ? undefined : fitting.find((other) => other.relation === "yes" && other.byKind);
  const byFormat = field.format === null ? undefined : fitting.find((other) => other.formats.includes(field.format ?? ""));
  const byKind = fitting.find((other) => other.byKind && (WHEN[other.name]?.(field) ?? true));
  return (byRelation ?? byFormat ?? byKind)?.name ?? "json";
}

function serves(row: ControlRow, field: Field): boolean {
  const relation = row.relation === "any" || (row.relation === "yes") === (field.relation !== null);
  const choices = row.choices === "any" || (row.choices === "yes") === (field.choices !== null);
  return row.kinds.includes(field.kind) && relation && choices;
}
