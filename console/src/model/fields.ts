/**
 * From schemas, arguments and hints to complete fields. Everything that shows a form meets only these objects.
 *
 * What may be written is what the request takes as an argument and the schema does not mark read-only.
 */

import type { FieldHints } from "../api/description";
import { chooseControl, type ControlName } from "./control-table";
import { isObject, isSchema, typeOf, typesOf, type JsonSchema, type JsonType } from "./json-schema";
import { helpBeside, say, words } from "./labels";

export type Kind = "string" | "integer" | "number" | "boolean" | "array" | "object" | "map" | "union" | "any";

export interface Choice {
  value: unknown;
  label: string;
}

export interface Bounds {
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
}

export interface Relation {
  resources: string[];
  many: boolean;
}

export interface Field {
  /** Names from the record down, joined by dots; `*` stands for a place in a list or a name in a map. */
  path: string;
  name: string;
  label: string;
  help: string;
  /** The help is what the schema says of the property, and was not written for forms: it is shown when somebody asks for it. */
  quiet: boolean;
  kind: Kind;
  nullable: boolean;
  format: string | null;
  /** The value is the member `raw` of an object that also has what is made of it. */
  wrapped: boolean;
  required: boolean;
  readOnly: boolean;
  /** It can be set, and responses never show it. */
  secret: boolean;
  /** The server keeps the members that a request leaves out. */
  merges: boolean;
  choices: Choice[] | null;
  bounds: Bounds;
  relation: Relation | null;
  /** Of an array: its items. Of a map: its values. */
  item: Field | null;
  children: Field[];
  alternatives: Field[];
  /** Undefined: there is none. */
  default: unknown;
  control: ControlName;
  options: Record<string, unknown>;
  schema: JsonSchema;
}

export interface FieldSource {
  /** Of a record, as `OPTIONS` gives them. */
  properties: Record<string, JsonSchema>;
  /** Of the request that creates or updates; null: the record can only be read. */
  args: Record<string, JsonSchema> | null;
  /** Of the description, by path. */
  hints: Record<string, FieldHints>;
  /** Names that the path of the request takes. */
  parameters: string[];
}

/** Nesting that no schema of use has; deeper values are edited as JSON. */
const DEEPEST = 8;

export function fieldsOf(source: FieldSource): Field[] {
  const names = [...Object.keys(source.properties), ...Object.keys(source.args ?? {}).filter((name) => !Object.hasOwn(source.properties, name))];
  const fields: Field[] = [];
  for (const name of names) {
    const property = source.properties[name];
    const argument = source.args?.[name];
    if (property === undefined && source.parameters.includes(name)) {
      continue;
    }
    const schema = merged(property, argument);
    const readOnly = argument === undefined || property?.readonly === true || source.parameters.includes(name);
    const required = argument?.required === true;
    const field = fieldOf(schema, name, { hints: source.hints, readOnly, required, depth: 0 });
    field.secret = !readOnly && property !== undefined && Array.isArray(property.context) && property.context.length === 0;
    fields.push(field);
  }
  return fields;
}

/** The argument says what is taken, the property what is shown. */
function merged(property: JsonSchema | undefined, argument: JsonSchema | undefined): JsonSchema {
  if (property === undefined || argument === undefined) {
    return argument ?? property ?? {};
  }
  const { context: _, ...rest } = property;
  // Of an argument the word says that the request needs it; of an object which members it needs.
  const members = Array.isArray(property.required) ? { required: property.required } : {};
  return { ...rest, ...argument, ...members };
}

interface Around {
  hints: Record<string, FieldHints>;
  readOnly: boolean;
  required: boolean;
  depth: number;
}

/** One field, with those inside it. */
export function fieldOf(given: JsonSchema, path: string, around: Around): Field {
  const hint = around.hints[path] ?? {};
  const { schema, nullable, kind, wrapped } = shapeOf(hint.type === undefined ? given : narrowed(given, hint.type), around.depth);
  const name = path.slice(path.lastIndexOf(".") + 1);
  const readOnly = around.readOnly || (schema.readonly === true && !wrapped);
  const own: JsonSchema = viewWords(given);
  const label = hint.label ?? text(own["label"]) ?? text(given.title) ?? (name === "*" ? "" : say(words(name)));
  const field: Field = {
    path,
    name,
    label,
    help: hint.help ?? text(own["help"]) ?? helpOf(given, label, name, hint),
    quiet: hint.help === undefined && text(own["help"]) === undefined,
    kind,
    nullable,
    format: schema.format ?? null,
    wrapped,
    required: around.required,
    readOnly,
    secret: false,
    merges: false,
    choices: choicesOf(schema, hint.labels ?? labelsIn(own)),
    bounds: boundsOf(schema),
    relation: hint.relation ?? null,
    item: null,
    children: [],
    alternatives: [],
    default: given.default ?? undefined,
    control: "json",
    options: { ...(isObject(own["options"]) ? own["options"] : {}), ...hint.options },
    schema: given,
  };
  fillInside(field, schema, { ...around, readOnly, depth: around.depth + 1 });
  field.control = chooseControl(field, hint.control ?? text(own["control"]));
  field.merges = field.control === "meta" || hint.merges === true;
  return field;
}

/** One of several types, and null where it is one of them. */
function narrowed(schema: JsonSchema, type: JsonType): JsonSchema {
  const types = typesOf(schema).includes("null") ? [type, "null" as const] : type;
  if (!isSchema(schema.items)) return { ...schema, type: types };
  // Choices are texts; some are accepted as numbers, too.
  const choices = schema.items.enum?.filter((value) => typeof value === "string");
  if (type !== "array") return { ...schema, type: types, ...(choices === undefined ? {} : { enum: choices }) };
  const item = typesOf(schema.items)[0];
  return { ...schema, type: types, items: { ...schema.items, ...(item === undefined ? {} : { type: item }), ...(choices === undefined ? {} : { enum: choices }) } };
}

/** Nobody who chooses records by their names needs to know that they are stored by their ids. */
function helpOf(schema: JsonSchema, label: string, name: string, hint: FieldHints): string {
  const said = schema.description ?? "";
  if (hint.relation === undefined) {
    return helpBeside(label, name, said);
  }
  return /^ids? of /i.test(said) ? "" : helpBeside(label, name, said.replace(/[;,] 0 for [^.;,]+/i, ""));
}

/** What a schema file says to consoles, where it reaches them. */
function viewWords(schema: JsonSchema): JsonSchema {
  return isSchema(schema["x-view"]) ? schema["x-view"] : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function labelsIn(own: JsonSchema): Record<string, string> {
  const labels = own["labels"];
  return isObject(labels) ? Object.fromEntries(Object.entries(labels).map(([value, label]) => [value, String(label)])) : {};
}

interface Shape {
  schema: JsonSchema;
  nullable: boolean;
  kind: Kind;
  wrapped: boolean;
}

function shapeOf(given: JsonSchema, depth: number): Shape {
  const raw = rawOf(given);
  if (raw !== null) {
    return { ...shapeOf(raw, depth), wrapped: true };
  }
  const alternatives = alternativesOf(given);
  if (alternatives !== null) {
    const present = alternatives.filter((schema) => !isNull(schema));
    const nullable = present.length < alternatives.length || typesOf(given).includes("null");
    const only = present[0];
    if (present.length === 1 && only !== undefined) {
      const { oneOf: _one, anyOf: _any, ...rest } = given;
      return { ...shapeOf({ ...rest, ...only }, depth), nullable };
    }
    return { schema: given, nullable, kind: depth > DEEPEST ? "any" : "union", wrapped: false };
  }
  const types = typesOf(given);
  const nullable = types.includes("null") && types.length > 1;
  return { schema: given, nullable, kind: depth > DEEPEST ? "any" : kindOf(given, types.filter((type) => type !== "null")), wrapped: false };
}

/** WordPress shows some texts as `{raw, rendered}`; only `raw` is written. */
function rawOf(schema: JsonSchema): JsonSchema | null {
  const raw = schema.properties?.["raw"];
  if (raw === undefined || !typesOf(schema).includes("object")) {
    return null;
  }
  const others = Object.entries(schema.properties ?? {}).filter(([name]) => name !== "raw");
  return others.every(([name, other]) => name === "rendered" || other.readonly === true) ? raw : null;
}

function alternativesOf(schema: JsonSchema): JsonSchema[] | null {
  const listed = schema.oneOf ?? schema.anyOf;
  return Array.isArray(listed) && listed.length > 0 ? listed.filter(isSchema) : null;
}

function isNull(schema: JsonSchema): boolean {
  const types = typesOf(schema);
  return types.length === 1 && types[0] === "null";
}

function kindOf(schema: JsonSchema, types: JsonType[]): Kind {
  if (types.length === 2 && types.includes("integer") && types.includes("number")) {
    return "number";
  }
  if (types.length > 1) {
    return schema.enum !== undefined && types.every(isScalar) ? "string" : "union";
  }
  const type = types[0];
  switch (type) {
    case undefined:
    case "null":
      return "any";
    case "array":
      return isSchema(schema.items) ? "array" : "any";
    case "object":
      return objectKind(schema);
    default:
      return type;
  }
}

function isScalar(type: JsonType): boolean {
  return type !== "array" && type !== "object";
}

function objectKind(schema: JsonSchema): Kind {
  const others = isSchema(schema.additionalProperties) || schema.patternProperties !== undefined;
  if (schema.properties !== undefined && (Object.keys(schema.properties).length > 0 || !others)) {
    return "object";
  }
  const patterns = Object.values(schema.patternProperties ?? {});
  return isSchema(schema.additionalProperties) || patterns.length === 1 ? "map" : "any";
}

function fillInside(field: Field, schema: JsonSchema, around: Around): void {
  const inside = (part: JsonSchema, path: string, required = false): Field => fieldOf(part, path, { ...around, required });
  switch (field.kind) {
    case "array":
      field.item = inside(schema.items as JsonSchema, `${field.path}.*`);
      break;
    case "map": {
      const value = isSchema(schema.additionalProperties) ? schema.additionalProperties : Object.values(schema.patternProperties ?? {})[0];
      field.item = inside(value ?? {}, `${field.path}.*`);
      break;
    }
    case "object": {
      const named = Array.isArray(schema.required) ? schema.required : [];
      field.children = Object.entries(schema.properties ?? {}).map(([name, part]) =>
        inside(part, `${field.path}.${name}`, part.required === true || named.includes(name)),
      );
      break;
    }
    case "union":
      field.alternatives = unionOf(schema).map((part, index) => {
        const alternative = inside(part, field.path);
        return { ...alternative, label: part.title ?? "", name: String(index) };
      });
      break;
    default:
  }
}

/** The alternatives of a union; a list of types has one for each type. */
function unionOf(schema: JsonSchema): JsonSchema[] {
  const listed = alternativesOf(schema);
  if (listed !== null) {
    const { oneOf: _one, anyOf: _any, title: _title, description: _description, default: _default, ...shared } = schema;
    return listed.filter((part) => !isNull(part)).map((part) => ({ ...shared, ...part }));
  }
  const { title: _title, description: _description, default: _default, ...shared } = schema;
  const types = typesOf(schema).filter((type) => type !== "null");
  return types
    .filter((type) => type !== "integer" || !types.includes("number"))
    .map((type) => ({ ...shared, type, ...(schema.enum === undefined ? {} : { enum: schema.enum.filter((value) => fits(value, type)) }) }));
}

function fits(value: unknown, type: JsonType): boolean {
  return typeOf(value) === type || (type === "number" && typeof value === "number");
}

function choicesOf(schema: JsonSchema, labels: Record<string, string>): Choice[] | null {
  const listed = schema.enum ?? (isSchema(schema.items) ? schema.items.enum : undefined) ?? labelled(schema, labels);
  if (!Array.isArray(listed)) {
    return null;
  }
  return listed.filter((value) => value !== null).map((value) => ({ value, label: labels[String(value)] ?? choiceLabel(value) }));
}

/** Values without a closed list that have labels: those are offered. */
function labelled(schema: JsonSchema, labels: Record<string, string>): unknown[] | undefined {
  const values = Object.keys(labels);
  const types = typesOf(isSchema(schema.items) ? schema.items : schema);
  if (values.length === 0 || types.includes("string")) {
    return values.length === 0 ? undefined : values;
  }
  return types.includes("integer") || types.includes("number") ? values.map(Number).filter((value) => !Number.isNaN(value)) : undefined;
}

/** An empty text has no words of its own: the control says what it stands for. */
function choiceLabel(value: unknown): string {
  return typeof value === "string" ? (value === "" ? "" : /^[a-z][a-z0-9_-]*$/.test(value) ? say(words(value)) : value) : JSON.stringify(value);
}

const COUNTS = ["minLength", "maxLength", "multipleOf", "minItems", "maxItems", "minProperties", "maxProperties"] as const;

function boundsOf(schema: JsonSchema): Bounds {
  const bounds: Bounds = {};
  for (const word of COUNTS) {
    const value = schema[word];
    if (typeof value === "number") {
      bounds[word] = value;
    }
  }
  if (typeof schema.pattern === "string") {
    bounds.pattern = schema.pattern;
  }
  if (schema.uniqueItems === true) {
    bounds.uniqueItems = true;
  }
  limit(schema, "minimum", "exclusiveMinimum", bounds);
  limit(schema, "maximum", "exclusiveMaximum", bounds);
  return bounds;
}

/** Draft 4 says `exclusiveMinimum: true`, later drafts give the bound itself. */
function limit(schema: JsonSchema, word: "minimum" | "maximum", exclusive: "exclusiveMinimum" | "exclusiveMaximum", bounds: Bounds): void {
  const value = typeof schema[exclusive] === "number" ? schema[exclusive] : schema[word];
  if (typeof value === "number") {
    bounds[word] = value;
    if (schema[exclusive] !== undefined && schema[exclusive] !== false) {
      bounds[exclusive] = true;
    }
  }
}

/** Finds a field by its path, at any depth. */
export function findField(fields: Field[], path: string): Field | null {
  for (const field of fields) {
    if (field.path === path) {
      return field;
    }
    const inside = findField([...field.children, ...(field.item === null ? [] : [field.item])], path);
    if (inside !== null) {
      return inside;
    }
  }
  return null;
}
