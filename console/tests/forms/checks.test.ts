import { expect, it } from "vitest";
import { faultsOf, fits } from "../../src/model/checks";
import type { JsonSchema } from "../../src/model/json-schema";
import { sampleField } from "./sample";

it.each<[string, JsonSchema, unknown, Record<string, string>]>([
  ["a number out of bounds", { type: "integer", minimum: 1 }, 0, { value: "min" }],
  ["an exclusive bound", { type: "number", maximum: 2, exclusiveMaximum: true }, 2, { value: "below" }],
  ["a text in a number", { type: "number" }, "12a", { value: "number" }],
  ["a part of an integer", { type: "integer" }, 1.5, { value: "integer" }],
  ["a step", { type: "number", multipleOf: 0.1 }, 0.3, {}],
  ["a wrong step", { type: "number", multipleOf: 0.1 }, 0.35, { value: "multiple" }],
  ["a long text, by character", { type: "string", maxLength: 2 }, "🙂🙂", {}],
  ["a longer text", { type: "string", maxLength: 2 }, "🙂🙂🙂", { value: "long" }],
  ["a short text", { type: "string", minLength: 3 }, "ab", { value: "short" }],
  ["a pattern", { type: "string", pattern: "^a" }, "b", { value: "pattern" }],
  ["a pattern that this browser cannot read", { type: "string", pattern: "(?<" }, "b", {}],
  ["an e-mail address", { type: "string", format: "email" }, "a b@c", { value: "email" }],
  ["an empty text of a format", { type: "string", format: "email" }, "", {}],
  ["items", { type: "array", items: { type: "integer", minimum: 5 } }, [5, 1], { "value.1": "min" }],
  ["few items", { type: "array", items: {}, minItems: 2 }, [1], { value: "few" }],
  ["the same item twice", { type: "array", items: {}, uniqueItems: true }, [{ a: 1 }, { a: 1 }], { value: "unique" }],
  ["members", { type: "object", properties: { a: { type: "string", required: true }, b: { type: "integer", maximum: 1 } } }, { b: 2 }, { "value.a": "required", "value.b": "max" }],
  ["a map", { type: "object", additionalProperties: { type: "integer" } }, { x: "y" }, { "value.x": "integer" }],
  ["a value that is not set", { type: "integer", minimum: 1 }, undefined, {}],
])("%s", (_, schema, value, expected) => {
  const faults = faultsOf(sampleField(schema), value);
  expect(Object.fromEntries(Object.entries(faults).map(([at, fault]) => [at, fault.kind]))).toEqual(expected);
});

it("what is required must be there", () => {
  const field = sampleField({ type: "string" }, { required: true });
  expect(faultsOf(field, "")).toEqual({ value: { kind: "required" } });
  expect(faultsOf({ ...field, nullable: true }, null)).toEqual({});
  expect(faultsOf({ ...field, readOnly: true }, "")).toEqual({});
});

it.each<[JsonSchema, unknown, boolean]>([
  [{ type: "string" }, "a", true],
  [{ type: "string" }, 1, false],
  [{ type: ["string", "null"] }, null, true],
  [{ type: "integer" }, 1.5, false],
  [{ type: "number" }, 1, true],
  [{ type: "string", enum: ["a"] }, "b", false],
  [{ type: "array", items: { type: "integer" } }, [1, "a"], false],
  [{ type: "object", properties: { a: {} }, additionalProperties: false }, { b: 1 }, false],
  [{ type: "object", properties: { a: { type: "string" } } }, { b: 1 }, true],
  [{ type: "object", additionalProperties: { type: "string" } }, { b: 1 }, false],
  [{}, { anything: true }, true],
])("%j fits %j: %s", (schema, value, expected) => {
  expect(fits(sampleField(schema), value)).toBe(expected);
});
