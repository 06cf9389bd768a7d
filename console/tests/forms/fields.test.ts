import { describe, expect, it } from "vitest";
import { ROWS } from "../../src/model/control-table";
import { fieldOf, fieldsOf, findField, type Field } from "../../src/model/fields";
import { isObject, type JsonSchema } from "../../src/model/json-schema";
import { helpBeside, words } from "../../src/model/labels";
import { hintsOf } from "../../src/model/roles";
import { sampleDescription, sampleField, sampleResource } from "./sample";

const wrapped: JsonSchema = {
  type: "object",
  properties: { raw: { type: "string", maxLength: 9 }, rendered: { type: "string", readonly: true }, protected: { type: "boolean", readonly: true } },
};

describe("fields", () => {
  const properties: Record<string, JsonSchema> = {
    id: { type: "integer", readonly: true },
    title: { description: "Its title, in short.", ...wrapped },
    starts_at: { type: ["string", "null"], format: "date-time" },
    level: { type: "integer", enum: [1, 2], minimum: 1, exclusiveMaximum: true, maximum: 9 },
    secret: { type: "string", context: [] },
    link: { type: "string", readonly: true },
    venue: { type: "integer" },
  };
  const args: Record<string, JsonSchema> = {
    id: { type: "integer" }, title: { ...wrapped, required: true }, starts_at: { type: ["string", "null"], format: "date-time" },
    level: { type: "integer", enum: [1, 2], default: 2 }, secret: { type: "string" }, venue: { type: "integer" }, extra: { type: "boolean" }, parent: { type: "integer" },
  };
  const fields = fieldsOf({
    properties, args, parameters: ["id", "parent"],
    hints: { venue: { label: "Place", help: "Where it is.", relation: { resources: ["venues"], many: false } }, level: { labels: { "1": "Low" } } },
  });
  const field = (path: string): Field => {
    const found = findField(fields, path);
    if (found === null) {
      throw new Error(path);
    }
    return found;
  };

  it("come from the record, then from further arguments; parameters of the path are none", () => {
    expect(fields.map((one) => one.path)).toEqual(["id", "title", "starts_at", "level", "secret", "link", "venue", "extra"]);
  });

  it("know what may be written", () => {
    expect(fields.filter((one) => one.readOnly).map((one) => one.path)).toEqual(["id", "link"]);
    expect(field("title").required).toBe(true);
    expect(field("secret").secret).toBe(true);
    expect(fieldsOf({ properties, args: null, parameters: [], hints: {} }).every((one) => one.readOnly)).toBe(true);
  });

  it("have words for people", () => {
    expect(field("starts_at").label).toBe("Starts at");
    expect([field("venue").label, field("venue").help]).toEqual(["Place", "Where it is."]);
    expect(field("title").help).toBe("Its title, in short.");
    expect(field("level").choices).toEqual([{ value: 1, label: "Low" }, { value: 2, label: "2" }]);
  });

  it("have kinds, bounds and defaults", () => {
    expect([field("title").kind, field("title").wrapped, field("title").bounds.maxLength]).toEqual(["string", true, 9]);
    expect([field("starts_at").kind, field("starts_at").nullable, field("starts_at").control]).toEqual(["string", true, "date-time"]);
    expect(field("level").bounds).toEqual({ minimum: 1, maximum: 9, exclusiveMaximum: true });
    expect(field("level").default).toBe(2);
    expect(field("venue").relation).toEqual({ resources: ["venues"], many: false });
  });
});

describe("shapes of values", () => {
  it.each<[string, JsonSchema, string, string]>([
    ["a text", { type: "string" }, "string", "text"],
    ["a long text", { type: "string", maxLength: 65535 }, "string", "multi-line"],
    ["a text of a format", { type: "string", format: "hex-color" }, "string", "colour"],
    ["an unknown format", { type: "string", format: "isbn" }, "string", "text"],
    ["choices", { type: "string", enum: ["a", "b"] }, "string", "select"],
    ["choices of a format", { type: "string", format: "date", enum: ["2026-01-01"] }, "string", "select"],
    ["choices of several types", { enum: ["a", 1] }, "string", "select"],
    ["a number or an integer", { type: ["integer", "number"] }, "number", "number"],
    ["true or false", { type: "boolean" }, "boolean", "switch"],
    ["nothing or true or false", { type: ["boolean", "null"] }, "boolean", "switch"],
    ["several choices", { type: "array", items: { type: "string", enum: ["a"] } }, "array", "checkboxes"],
    ["words", { type: "array", items: { type: "string" } }, "array", "tokens"],
    ["addresses", { type: "array", items: { type: "string", format: "uri" } }, "array", "list"],
    ["numbers", { type: "array", items: { type: "integer" } }, "array", "list"],
    ["objects in a list", { type: "array", items: { type: "object", properties: { a: { type: "string" } } } }, "array", "list"],
    ["a tuple", { type: "array", items: [{ type: "string" }] }, "any", "json"],
    ["a list of anything", { type: "array" }, "any", "json"],
    ["an object", { type: "object", properties: { a: { type: "string" } } }, "object", "object"],
    ["a map", { type: "object", additionalProperties: { type: "string" } }, "map", "map"],
    ["a map with a pattern", { type: "object", patternProperties: { "^x": { type: "string" } } }, "map", "map"],
    ["an object of anything", { type: "object" }, "any", "json"],
    ["types", { type: ["string", "array"], items: { type: "string" } }, "union", "union"],
    ["alternatives", { oneOf: [{ type: "string" }, { type: "integer" }] }, "union", "union"],
    ["an alternative or nothing", { anyOf: [{ type: "string", format: "email" }, { type: "null" }] }, "string", "e-mail"],
    ["anything", {}, "any", "json"],
    ["a text that stands in an object", wrapped, "string", "text"],
  ])("%s", (_, schema, kind, control) => {
    const field = sampleField(schema);
    expect([field.kind, field.control]).toEqual([kind, control]);
  });

  it("a relation is chosen before the format and the type", () => {
    const field = fieldOf({ type: "array", items: { type: "integer" } }, "a", { hints: { a: { relation: { resources: ["venues"], many: true } } }, readOnly: false, required: false, depth: 0 });
    expect(field.control).toBe("relation");
  });

  it("values that have labels are offered, where there is no closed list", () => {
    const labels = { editor: "Editor" };
    const field = fieldOf({ type: "array", items: { type: "string" } }, "a", { hints: { a: { labels } }, readOnly: false, required: false, depth: 0 });
    expect([field.control, field.choices]).toEqual(["checkboxes", [{ value: "editor", label: "Editor" }]]);
    expect(fieldOf({ type: "integer" }, "a", { hints: { a: { labels: { "0": "Sunday" } } }, readOnly: false, required: false, depth: 0 }).choices).toEqual([{ value: 0, label: "Sunday" }]);
    expect(fieldOf({ type: "string" }, "a", { hints: { a: { labels: {} } }, readOnly: false, required: false, depth: 0 }).control).toBe("text");
  });

  it("an object with nothing but the raw text is the text", () => {
    expect(sampleField({ type: "object", properties: { raw: { type: "string" } } })).toMatchObject({ wrapped: true, kind: "string" });
  });

  it("what a declaration names is taken where it serves the value, and nowhere else", () => {
    const named = (schema: JsonSchema, control: string): string => fieldOf(schema, "a", { hints: { a: { control } }, readOnly: false, required: false, depth: 0 }).control;
    expect(named({ type: "string", enum: ["a"] }, "radio")).toBe("radio");
    expect(named({ type: "string" }, "json")).toBe("json");
    expect(named({ type: "boolean" }, "colour")).toBe("switch");
    expect(named({ type: "boolean" }, "no-such-control")).toBe("switch");
    expect(sampleField({ type: "string", "x-view": { control: "multi-line", label: "Text" } })).toMatchObject({ control: "multi-line", label: "Text" });
  });

  it("schemas that never end become JSON", () => {
    let schema: JsonSchema = { type: "string" };
    for (let depth = 0; depth < 40; depth += 1) {
      schema = { type: "object", properties: { inner: schema } };
    }
    let field: Field | undefined = sampleField(schema);
    let depth = 0;
    while (field !== undefined && field.control === "object") {
      field = field.children[0];
      depth += 1;
    }
    expect(field?.control).toBe("json");
    expect(depth).toBeLessThan(12);
  });
});

it("hints follow from the features of resources", () => {
  const files = sampleResource({ name: "files", supports: ["files"] });
  const topics = sampleResource({ name: "topics", hierarchical: true });
  const resource = sampleResource({
    states: ["draft"], taxonomies: ["topics"],
    fields: { cover: { relation: { resources: ["files"], many: false } }, topics: { relation: { resources: ["topics"], many: true } }, slug: { control: "text" } },
  });
  const properties = { title: wrapped, content: wrapped, excerpt: wrapped, status: { type: "string" }, slug: { type: "string" }, cover: { type: "integer" }, topics: { type: "array", items: { type: "integer" } } };
  const hints = hintsOf(resource, sampleDescription([files, topics, resource]), properties);
  expect(Object.fromEntries(Object.entries(hints).map(([name, hint]) => [name, hint.control]))).toEqual({
    title: "headline", content: "markup", excerpt: "multi-line", status: "state", slug: "text", cover: "file", topics: "terms",
  });
});

it("a help text that says no more than the label is left out", () => {
  expect(["Title of the record.", "First name.", "Name that is shown.", "Its title."].map((help) => helpBeside("Title", "first_name", help))).toEqual(["", "", "", ""]);
  expect(helpBeside("Slug", "slug", "Name in URLs.")).toBe("Name in URLs.");
});

it("records of a hierarchy have one of their own kind above them, and authors are people", () => {
  const people = sampleResource({ name: "people" });
  const pages = sampleResource({ name: "chapters", hierarchical: true, fields: { author: { relation: { resources: ["people"], many: false } } } });
  const notes = sampleResource();
  const properties: Record<string, JsonSchema> = { parent: { type: "integer" }, author: { type: "integer" } };
  const description = sampleDescription([people, pages, notes]);
  expect(hintsOf(pages, description, properties)["parent"]?.relation).toEqual({ resources: ["chapters"], many: false });
  expect([hintsOf(notes, description, properties)["parent"]?.relation, hintsOf(notes, description, properties)["author"]?.relation]).toEqual([undefined, { resources: ["people"], many: false }]);
});

it("an empty title of a schema is no label", () => {
  expect(sampleField({ type: "string", title: "" }).label).toBe("Value");
});

it("names become words", () => {
  expect(["menu_order", "menuOrder", "menu-order", "id", "site_url", "isPublic", "A", "_", "date_gmt"].map(words)).toEqual([
    "Menu order", "Menu order", "Menu order", "ID", "Site URL", "Is public", "A", "_", "Date UTC",
  ]);
});

// ---------------------------------------------------------------- every schema of the project

const files = import.meta.glob<unknown>(
  ["../../../schemas/*.json", "../../../schemas/dialects/*.json", "../../../fixtures/**/*.json", "!**/broken.json", "!../../../fixtures/render/**", "!../../../schemas/*.schema.json", "!../../../fixtures/openapi/**"],
  { eager: true, import: "default" },
);

/** The schemas in a file: of records, of arguments, of tests. */
function schemasIn(content: unknown): JsonSchema[] {
  if (Array.isArray(content)) {
    return content.flatMap((part: unknown) => (isObject(part) && isObject(part["schema"]) ? [part["schema"]] : []));
  }
  if (!isObject(content)) {
    return [];
  }
  const endpoints = Array.isArray(content["endpoints"]) ? content["endpoints"] : [];
  const args = endpoints.flatMap((endpoint: unknown) => (isObject(endpoint) && isObject(endpoint["args"]) ? [{ type: "object", properties: endpoint["args"] } as JsonSchema] : []));
  return [...args, ...(isObject(content["properties"]) ? [content] : []), ...(isObject(content["schema"]) ? [content["schema"]] : [])];
}

function everyField(field: Field): Field[] {
  return [field, ...[...field.children, ...(field.item === null ? [] : [field.item]), ...field.alternatives].flatMap(everyField)];
}

const all = Object.entries(files).flatMap(([path, content]) => schemasIn(content).map((schema) => ({ path, schema })));

it("every schema of the project finds a control for every property; JSON is left to what says nothing of its value", () => {
  expect(all.length).toBeGreaterThan(150);
  const wrong: string[] = [];
  for (const { path, schema } of all) {
    const tops = isObject(schema.properties) ? fieldsOf({ properties: schema.properties, args: schema.properties, hints: {}, parameters: [] }) : [sampleField(schema)];
    for (const field of tops.flatMap(everyField)) {
      const row = ROWS.find((one) => one.name === field.control);
      if (row === undefined || !(row.kinds as readonly string[]).includes(field.kind) || (field.control === "json") !== (field.kind === "any")) {
        wrong.push(`${path}: ${field.path} (${field.kind}, ${field.control})`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

it("the table has no dead rows: each is chosen by something", () => {
  const reached = new Set<string>(all.flatMap(({ schema }) => everyField(sampleField(schema))).map((field) => field.control));
  const samples: Record<string, JsonSchema> = { integer: { type: "integer" }, array: { type: "array", items: { type: "integer" } }, object: { type: "object", properties: { a: {} } }, string: { type: "string" }, number: { type: "number" } };
  for (const row of ROWS) {
    for (const format of row.formats) {
      expect(sampleField({ type: "string", format }).control).toBe(row.name);
      reached.add(row.name);
    }
    const schema = { ...samples[row.kinds[0]], ...(row.choices === "yes" ? { enum: ["a"] } : {}) };
    const relation = row.relation === "no" ? {} : { relation: { resources: ["others"], many: row.kinds[0] === "array" } };
    const named = fieldOf(schema, "a", { hints: { a: { control: row.name, ...relation } }, readOnly: false, required: false, depth: 0 });
    if (!row.byKind) {
      expect(named.control).toBe(row.name);
      reached.add(row.name);
    }
  }
  reached.add(fieldOf({ type: "integer" }, "a", { hints: { a: { relation: { resources: ["others"], many: false } } }, readOnly: false, required: false, depth: 0 }).control);
  expect(ROWS.map((row) => row.name).filter((name) => !reached.has(name))).toEqual([]);
});

it("names of controls are unique, and no format has two", () => {
  const formats = ROWS.flatMap((row) => [...row.formats]);
  expect(new Set(formats).size).toBe(formats.length);
  expect(new Set(ROWS.map((row) => row.name)).size).toBe(ROWS.length);
});

it("the README lists every control, with its formats and options", () => {
  const readme = Object.values(import.meta.glob<string>("../../README.md", { query: "?raw", import: "default", eager: true }))[0] ?? "";
  const line = (name: string): string => readme.split("\n").find((text) => new RegExp(`^\\| [^|]*\`${name}\``).test(text)) ?? "";
  for (const row of ROWS) {
    const wanted = [...row.formats, ...Object.keys(row.options.properties ?? {})].filter((word) => !["date", "time"].includes(word));
    expect(wanted.filter((word) => !line(row.name).includes(`\`${word}\``)), row.name).toEqual([]);
    expect(line(row.name), row.name).not.toBe("");
  }
});
