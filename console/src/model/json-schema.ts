/** The part of JSON Schema (draft 4, with WordPress's words) that arguments and records are described with. */

export type JsonType = "string" | "integer" | "number" | "boolean" | "array" | "object" | "null";

export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  format?: string;
  enum?: unknown[];
  default?: unknown;
  required?: boolean | string[];
  readonly?: boolean;
  context?: string[];
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema | JsonSchema[];
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean | number;
  exclusiveMaximum?: boolean | number;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  links?: SchemaLink[];
  [word: string]: unknown;
}

/** What a record's relation allows, such as `…/action-publish` (JSON Hyper-Schema). */
export interface SchemaLink {
  rel: string;
  href?: string;
  title?: string;
  targetSchema?: { type?: string; properties?: Record<string, unknown> };
}

const TYPES: readonly string[] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/** The types that a schema names, in its order; those that follow from other words where it names none. */
export function typesOf(schema: JsonSchema): JsonType[] {
  const named = schema.type === undefined ? [] : Array.isArray(schema.type) ? schema.type : [schema.type];
  const known = named.filter((type): type is JsonType => TYPES.includes(type));
  if (known.length > 0) {
    return known;
  }
  if (schema.properties !== undefined || isSchema(schema.additionalProperties) || schema.patternProperties !== undefined) {
    return ["object"];
  }
  if (schema.items !== undefined) {
    return ["array"];
  }
  if (schema.enum !== undefined && schema.enum.length > 0) {
    return [...new Set(schema.enum.map(typeOf))];
  }
  return [];
}

export function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) {
    return "null";
  }
  if (Array.isArray(value)) {
    return "array";
  }
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "number":
      return Number.isInteger(value) ? "integer" : "number";
    default:
      return "object";
  }
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
