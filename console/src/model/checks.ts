/**
 * What is wrong with a value, as far as the form can know. The server has the last word; this saves a request.
 */

import type { Field } from "./fields";
import { isObject, typeOf } from "./json-schema";

export type Fault =
  | { kind: "required" | "number" | "integer" | "pattern" | "email" | "url" | "uuid" | "ip" | "colour" | "choice" | "date" | "unique" }
  | { kind: "min" | "max" | "above" | "below" | "short" | "long" | "few" | "many" | "multiple"; limit: number };

export type Faults = Record<string, Fault>;

/** By place in the record. */
export function faultsOf(field: Field, value: unknown, at: string = field.path): Faults {
  const faults: Faults = {};
  collect(field, value, at, faults);
  return faults;
}

function collect(field: Field, value: unknown, at: string, faults: Faults): void {
  if (field.readOnly) {
    return;
  }
  if (isEmpty(value)) {
    if (field.required && !(field.nullable && value === null)) {
      faults[at] = { kind: "required" };
    }
    return;
  }
  const fault = faultOf(field, value);
  if (fault !== null) {
    faults[at] = fault;
  }
  if (field.kind === "array" && Array.isArray(value)) {
    value.forEach((part: unknown, index) => itemFaults(field.item, part, `${at}.${index}`, faults));
  } else if (isObject(value)) {
    for (const child of field.children) {
      collect(child, value[child.name], `${at}.${child.name}`, faults);
    }
    if (field.kind === "map" && field.item !== null) {
      for (const [name, part] of Object.entries(value)) {
        itemFaults(field.item, part, `${at}.${name}`, faults);
      }
    }
  }
}

/** An item of a list, or a value of a map: it was added, so it has a value. */
function itemFaults(item: Field | null, value: unknown, at: string, faults: Faults): void {
  const missing = (value === null || value === undefined) && item?.kind !== "any";
  if (item !== null) {
    collect(missing ? { ...item, required: true } : item, value, at, faults);
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function faultOf(field: Field, value: unknown): Fault | null {
  if (field.choices !== null && field.kind !== "array" && field.kind !== "union") {
    return null;
  }
  switch (field.kind) {
    case "integer":
    case "number":
      return numberFault(field, value);
    case "string":
      return typeof value === "string" ? textFault(field, value) : null;
    case "array":
      return Array.isArray(value) ? listFault(field, value) : null;
    default:
      return null;
  }
}

function numberFault(field: Field, value: unknown): Fault | null {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return { kind: field.kind === "integer" ? "integer" : "number" };
  }
  if (field.kind === "integer" && !Number.isInteger(value)) {
    return { kind: "integer" };
  }
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field.bounds;
  if (minimum !== undefined && (value < minimum || (exclusiveMinimum === true && value === minimum))) {
    return { kind: exclusiveMinimum === true ? "above" : "min", limit: minimum };
  }
  if (maximum !== undefined && (value > maximum || (exclusiveMaximum === true && value === maximum))) {
    return { kind: exclusiveMaximum === true ? "below" : "max", limit: maximum };
  }
  if (multipleOf !== undefined && multipleOf > 0 && Math.abs(value / multipleOf - Math.round(value / multipleOf)) > 1e-9) {
    return { kind: "multiple", limit: multipleOf };
  }
  return null;
}

const FORMATS: Record<string, { fits: RegExp; kind: "email" | "uuid" | "ip" | "colour" | "url" }> = {
  email: { fits: /^[^\s@]+@[^\s@]+$/, kind: "email" },
  uuid: { fits: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, kind: "uuid" },
  ip: { fits: /^(\d{1,3}(\.\d{1,3}){3}|[\da-f:]*:[\da-f:.]*)$/i, kind: "ip" },
  "hex-color": { fits: /^#([\da-f]{3}|[\da-f]{6})$/i, kind: "colour" },
  uri: { fits: /^\S+$/, kind: "url" },
};

function textFault(field: Field, value: string): Fault | null {
  const { minLength, maxLength, pattern } = field.bounds;
  const length = maxLength !== undefined && value.length <= maxLength && minLength === undefined ? 0 : [...value].length;
  if (minLength !== undefined && length < minLength) {
    return { kind: "short", limit: minLength };
  }
  if (maxLength !== undefined && length > maxLength) {
    return { kind: "long", limit: maxLength };
  }
  const format = FORMATS[field.format ?? ""];
  if (format !== undefined && !format.fits.test(value)) {
    return { kind: format.kind };
  }
  return pattern === undefined || matchesPattern(value, pattern) ? null : { kind: "pattern" };
}

/** A pattern that this browser cannot read is left to the server. */
function matchesPattern(value: string, pattern: string): boolean {
  try {
    return value.length > 1000 || new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

function listFault(field: Field, value: unknown[]): Fault | null {
  const { minItems, maxItems, uniqueItems } = field.bounds;
  if (minItems !== undefined && value.length < minItems) {
    return { kind: "few", limit: minItems };
  }
  if (maxItems !== undefined && value.length > maxItems) {
    return { kind: "many", limit: maxItems };
  }
  if (uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
    return { kind: "unique" };
  }
  return null;
}

/** Whether a value has the shape that a field edits. Of a union the first alternative that fits is shown. */
export function fits(field: Field, value: unknown): boolean {
  if (value === null || value === undefined) {
    return field.nullable || field.kind === "any";
  }
  const type = typeOf(value);
  switch (field.kind) {
    case "any":
      return true;
    case "union":
      return field.alternatives.some((alternative) => fits(alternative, value));
    case "integer":
    case "number":
      return typeof value === "number" && (field.kind === "number" || type === "integer") && isChoice(field, value);
    case "array":
      return Array.isArray(value) && (field.item === null || value.every((item) => field.item === null || fits(field.item, item)));
    case "object":
      return isObject(value) && field.children.every((child) => fitsMember(child, value)) && !hasOthers(field, value);
    case "map":
      return isObject(value) && Object.values(value).every((item) => field.item === null || fits(field.item, item));
    case "string":
      return (field.choices === null ? type === "string" : isChoice(field, value)) && fitsText(field, value);
    case "boolean":
      return type === "boolean";
  }
}

function isChoice(field: Field, value: unknown): boolean {
  return field.choices === null || field.choices.some((choice) => choice.value === value);
}

function fitsText(field: Field, value: unknown): boolean {
  return typeof value !== "string" || textFault({ ...field, bounds: {} }, value) === null;
}

function fitsMember(child: Field, value: Record<string, unknown>): boolean {
  return Object.hasOwn(value, child.name) ? fits(child, value[child.name]) : !child.required;
}

function hasOthers(field: Field, value: Record<string, unknown>): boolean {
  return field.schema.additionalProperties === false && Object.keys(value).some((name) => !field.children.some((child) => child.name === name));
}
