import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { signal } from "@preact/signals";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { setApi } from "../../src/api";
import type { Adapter, Item, Page } from "../../src/api/adapter";
import { readBoot } from "../../src/api/boot";
import type { Resource } from "../../src/api/description";
import { createHttp } from "../../src/api/http";
import { componentOf } from "../../src/controls";
import { sixDigits } from "../../src/controls/colour";
import { moved } from "../../src/controls/list";
import { objectOf } from "../../src/controls/map";
import { Nested } from "../../src/controls/nested";
import { newPassword } from "../../src/controls/password";
import { idsOf, valueOf } from "../../src/controls/relation";
import { addressWith } from "../../src/controls/slug";
import { filtered, treeOf } from "../../src/controls/terms";
import type { FormScope } from "../../src/controls/types";
import { alternativeOf } from "../../src/controls/union";
import { ROWS, type ControlName } from "../../src/model/control-table";
import { fieldOf, type Field } from "../../src/model/fields";
import type { JsonSchema } from "../../src/model/json-schema";
import { sampleDescription, sampleField, sampleResource, STATES } from "./sample";

afterEach(cleanup);
beforeAll(() => setApi(createHttp(readBoot(document)), sampleDescription([topics, venues, files])));

const topics = sampleResource({ name: "topics", label: "Topics", singular: "Topic", hierarchical: true, operations: { list: operation(["search", "per_page", "page"]), create: operation(["name", "parent"]) } });
const venues = sampleResource({ name: "venues", label: "Venues", singular: "Venue", operations: { list: operation(["search", "per_page"]), create: operation(["name"]) } });
const files = sampleResource({ name: "files", label: "Files", singular: "File", supports: ["files"], operations: { list: operation(["search"]), create: operation([]) } });

function operation(args: string[]): Resource["operations"][string] {
  return { method: "GET", path: "/x", args, file: false, batch: false };
}

const RECORDS: Record<string, Item[]> = {
  topics: [{ id: 1, name: "Sea", parent: 0 }, { id: 2, name: "Ships", parent: 1 }, { id: 3, name: "Land", parent: 0 }],
  venues: [{ id: 5, name: "Lighthouse" }, { id: 6, name: "Harbour" }],
  files: [{ id: 9, title: { raw: "Lamp" }, source_url: "https://site.example/lamp.png", mime_type: "image/png" }],
};

const page = (items: Item[]): Page => ({ items, total: items.length, pages: 1, next: null, more: false });

function fakeAdapter(): Adapter & { created: Item[] } {
  const created: Item[] = [];
  return {
    created,
    list: async (resource: Resource) => page(RECORDS[resource.name] ?? []),
    many: async (resource: Resource, ids: readonly (string | number)[]) => (RECORDS[resource.name] ?? []).filter((item) => ids.map(String).includes(String(item["id"]))),
    one: async () => ({ item: { seo: {} }, etag: null, allow: [] }),
    create: async (_: Resource, values: Item) => {
      created.push(values);
      return { item: { id: 77, ...values }, etag: null, allow: [] };
    },
  } as unknown as Adapter & { created: Item[] };
}

function scope(changes: Partial<FormScope> = {}): FormScope {
  const description = sampleDescription([topics, venues, files]);
  return {
    description, adapter: fakeAdapter(), resource: sampleResource(), id: "1", states: STATES, unfilteredHtml: true,
    schemas: { of: async () => ({ schema: {}, args: { create: { name: { type: "string", required: true }, parent: { type: "integer" } } } }) },
    read: () => undefined, record: () => ({}), error: () => undefined, setBroken: () => undefined, onFlush: () => () => undefined, barred: () => [],
    ...changes,
  };
}

/** Shows a control with a value that follows its changes, as forms do. */
function show(field: Field, value: unknown, form = scope()): { changes: unknown[]; now: () => unknown } {
  const changes: unknown[] = [];
  const cell = signal(value);
  const Shown = (): preact.JSX.Element => (
    <Nested
      field={field}
      at={field.path}
      value={cell.value}
      onChange={(next) => {
        changes.push(next);
        cell.value = next;
      }}
      readOnly={false}
      form={form}
    />
  );
  render(<Shown />);
  return { changes, now: () => cell.peek() };
}

const type = (element: HTMLElement, text: string): void => {
  fireEvent.input(element, { target: { value: text } });
};

/** The library's own event would be `input` instead, because a module of `preact/compat` is loaded. */
const choose = (element: HTMLElement, value: string | undefined): void => {
  act(() => {
    (element as HTMLSelectElement).value = value ?? "";
    element.dispatchEvent(new Event("change", { bubbles: true }));
  });
};

const wrapped: JsonSchema = { type: "object", properties: { raw: { type: "string" }, rendered: { type: "string", readonly: true } } };
const many: JsonSchema = { type: "array", items: { type: "integer" } };

/** For each control a schema that it serves, with values that it must leave alone. */
const SAMPLES: Record<ControlName, { schema: JsonSchema; values: unknown[]; relation?: string }> = {
  state: { schema: { type: "string", enum: ["publish", "draft"] }, values: ["draft", "publish", "trash", "unheard-of", undefined] },
  slug: { schema: { type: "string" }, values: ["a-b", "", undefined] },
  password: { schema: { type: "string" }, values: ["secret", "", undefined] },
  markup: { schema: wrapped, values: ["<p>x</p>\r\n<!-- wp:x /-->", "", undefined] },
  headline: { schema: wrapped, values: ["A &amp; B", ""] },
  "date-time": { schema: { type: ["string", "null"], format: "date-time" }, values: ["2026-07-15T12:00:05", "2026-07-15T10:00:00Z", "2026-03-29T02:30:00", null, "soon", undefined] },
  date: { schema: { type: "string", format: "date" }, values: ["2026-07-15", "", "July"] },
  time: { schema: { type: "string", format: "time" }, values: ["12:30", "12:30:15", "noon"] },
  "time-zone": { schema: { type: "string" }, values: ["Europe/Berlin", "+02:00", "", undefined] },
  colour: { schema: { type: "string", format: "hex-color" }, values: ["#ABC", "#0b6269", "", "red"] },
  "e-mail": { schema: { type: "string", format: "email" }, values: ["a@b.example", "not one"] },
  address: { schema: { type: "string", format: "uri" }, values: ["https://a.example/ü", "mailto:a@b"] },
  ip: { schema: { type: "string", format: "ip" }, values: ["::1", "10.0.0.1"] },
  uuid: { schema: { type: "string", format: "uuid" }, values: ["123E4567-e89b-12d3-a456-426614174000"] },
  file: { schema: { type: "integer" }, values: [9, 0, 404], relation: "files" },
  terms: { schema: many, values: [[1, 3], [], [3, 404, 1]], relation: "topics" },
  relation: { schema: many, values: [[6, 5], [404], []], relation: "venues" },
  checkboxes: { schema: { type: "array", items: { type: "string", enum: ["a", "b"] } }, values: [["b", "a"], ["gone"], []] },
  radio: { schema: { type: "string", enum: ["a", "b"] }, values: ["a", "gone", undefined] },
  select: { schema: { type: ["string", "null"], enum: ["", "a", 1] }, values: ["", "a", 1, "gone", null, undefined] },
  "multi-line": { schema: { type: "string", maxLength: 5000 }, values: ["a\r\nb", "", undefined] },
  text: { schema: { type: ["string", "null"] }, values: ["ä", " spaces ", null, undefined] },
  integer: { schema: { type: "integer" }, values: [0, -7, 9007199254740991, undefined] },
  number: { schema: { type: ["number", "null"] }, values: [0.1, 1e21, -0, null] },
  switch: { schema: { type: "boolean" }, values: [true, false, undefined] },
  tokens: { schema: { type: "array", items: { type: "string" } }, values: [["a", "b, c", ""], [], undefined] },
  list: { schema: many, values: [[3, 1], []] },
  meta: { schema: { type: "object", properties: { a: { type: "string" }, b: { type: "boolean" } } }, values: [{ a: "x", other: 1 }, {}, undefined] },
  object: { schema: { type: "object", properties: { a: { type: "string" }, b: { type: "object", properties: { c: { type: "integer" } } } } }, values: [{ b: { c: 1 } }, {}, null] },
  "search-result": { schema: { type: "object", properties: { title: { type: "string" }, canonical: { type: "string" } } }, values: [{ title: "A {title}" }, { other: 1 }, {}, null, undefined] },
  union: { schema: { oneOf: [{ type: "string", enum: ["auto"] }, { type: "integer" }, many] }, values: ["auto", 5, [1, 2], true, null, undefined] },
  map: { schema: { type: "object", additionalProperties: { type: "string" } }, values: [{ b: "1", a: "2" }, {}, undefined] },
  json: { schema: {}, values: [{ a: [1, null] }, "text", 5, null, undefined] },
};

function sampleOf(name: ControlName): Field {
  const { schema, relation } = SAMPLES[name];
  const hints = { value: { control: name, label: "Value", ...(relation === undefined ? {} : { relation: { resources: [relation], many: schema.type === "array" } }) } };
  return fieldOf(schema, "value", { hints, readOnly: false, required: false, depth: 0 });
}

describe.each(ROWS.map((row) => row.name))("the control %s", (name) => {
  it.each(SAMPLES[name].values.map((value, place) => [JSON.stringify(value) ?? "undefined", place] as const))("leaves %s alone", async (_, place) => {
    const value = SAMPLES[name].values[place];
    const field = sampleOf(name);
    expect(field.control).toBe(name);
    const before = structuredClone(value);
    const { changes } = show(field, value);
    if (name === "markup" || name === "terms" || name === "relation" || name === "file") {
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    for (const element of document.querySelectorAll<HTMLElement>("input, select, textarea")) {
      fireEvent.focus(element);
      fireEvent.blur(element);
    }
    expect(changes).toEqual([]);
    expect(value).toEqual(before);
  });

  it("has a name, and shows a value that nobody may change", () => {
    const field = { ...sampleOf(name), label: "The label", readOnly: true };
    const { container } = render(<Nested field={field} at="value" value={SAMPLES[name].values[0]} onChange={() => undefined} readOnly form={scope()} />);
    expect(container.textContent).toContain("The label");
    expect(container.querySelector("input:not([readonly]):not([disabled]):not([type=hidden]), textarea:not([readonly]), select:not([disabled])")).toBeNull();
  });

  it("is bound to its label and its message", () => {
    const field = { ...sampleOf(name), label: "The label", help: "Some help." };
    const { container } = render(<Nested field={field} at="value" value={SAMPLES[name].values[0]} onChange={() => undefined} readOnly={false} form={scope({ error: (at) => (at === "value" ? "It is wrong." : undefined) })} />);
    const error = [...container.querySelectorAll<HTMLElement>(".field-error")].find((element) => element.textContent === "It is wrong.");
    expect(error?.id).toBeTruthy();
    const described = [...container.querySelectorAll("[aria-describedby]")].some((element) => element.getAttribute("aria-describedby")?.split(" ").includes(error?.id ?? ""));
    expect(described).toBe(true);
    const group = container.querySelector("[role=group][aria-labelledby], fieldset > legend");
    const labelled = [...container.querySelectorAll<HTMLLabelElement>("label[for]")].some((label) => document.getElementById(label.htmlFor) !== null);
    expect(group !== null || labelled).toBe(true);
  });
});

describe("changes", () => {
  it("of texts: what may be nothing becomes nothing, other texts stay texts", () => {
    const nullable = show(sampleOf("text"), "a");
    type(screen.getByLabelText("Value"), "");
    expect(nullable.now()).toBeNull();
    cleanup();
    const plain = show(sampleOf("slug"), "a");
    type(screen.getByLabelText("Value"), "");
    expect(plain.now()).toBe("");
  });

  it("of texts with entities: they are shown as people write them, and what reads as the saved text is the saved text", () => {
    const saved = "Fish &amp; chips &lt;3";
    const field = sampleField({ type: "string" }, { options: { entities: true } });
    const { changes, now } = show(field, saved, scope({ record: () => ({ [field.path]: saved }) }));
    const input = screen.getByLabelText<HTMLInputElement>("Value");
    expect(input.value).toBe("Fish & chips <3");
    type(input, "Fish & chip <3");
    expect(now()).toBe("Fish & chip <3");
    type(input, "Fish & chips <3");
    expect(now()).toBe(saved);
    expect(changes).toHaveLength(2);
    cleanup();
    show(sampleField({ type: "string" }), saved);
    expect(screen.getByLabelText<HTMLInputElement>("Value").value).toBe(saved);
  });

  it("of numbers: what is no number stays as it is typed", () => {
    const { now } = show(sampleOf("number"), 1);
    const input = screen.getByLabelText("Value") as HTMLInputElement;
    type(input, "1.5");
    expect(now()).toBe(1.5);
    type(input, "1.50");
    expect([now(), input.value]).toEqual([1.5, "1.50"]);
    type(input, "1,5");
    expect(now()).toBe(1.5);
    type(input, "12a");
    expect([now(), input.value]).toEqual(["12a", "12a"]);
    type(input, "");
    expect(now()).toBeNull();
    fireEvent.keyDown(input, { key: "ArrowUp" });
    expect(now()).toBe(1);
  });

  it("of choices keep the type of the choice", () => {
    const { now } = show(sampleOf("select"), "a");
    const select = screen.getByLabelText("Value") as HTMLSelectElement;
    const option = [...select.options].find((one) => one.text === "1");
    choose(select, option?.value);
    expect(now()).toBe(1);
    choose(select, "");
    expect(now()).toBeNull();
  });

  it("of several choices keep those that are no longer offered", () => {
    const { now } = show(sampleOf("checkboxes"), ["gone"]);
    fireEvent.click(screen.getByLabelText("B"));
    expect(now()).toEqual(["gone", "b"]);
    fireEvent.click(screen.getByLabelText("gone"));
    expect(now()).toEqual(["b"]);
  });

  it("of times are written in the way of the record", () => {
    const local = show(sampleOf("date-time"), "2026-07-15T12:00:00");
    type(screen.getByLabelText("Value"), "2026-07-16T09:15");
    expect(local.now()).toBe("2026-07-16T09:15:00");
    cleanup();
    const seconds = show(sampleOf("date-time"), "2026-07-15T12:00:05");
    type(screen.getByLabelText("Value"), "2026-07-16T12:00");
    expect(seconds.now()).toBe("2026-07-16T12:00:05");
    type(screen.getByLabelText("Value"), "2026-07-16T12:01");
    expect(seconds.now()).toBe("2026-07-16T12:01:00");
    cleanup();
    const utc = show(sampleOf("date-time"), "2026-07-15T10:00:00Z");
    expect((screen.getByLabelText("Value") as HTMLInputElement).value).toContain("2026-07-15T12:00");
    type(screen.getByLabelText("Value"), "2026-12-16T09:15");
    expect(utc.now()).toBe("2026-12-16T08:15:00Z");
  });

  it.each([
    ["date", "compact", "20260131", "2026-01-31", "2026-02-01", "20260201"],
    ["date-time", "spaced", "2026-01-31 09:30:00", "2026-01-31T09:30", "2026-02-01T10:15", "2026-02-01 10:15:00"],
    ["time", "seconds", "09:30:00", "09:30", "10:15", "10:15:00"],
  ] as const)("of a %s are written as %s ones are", (control, form, before, shown, typed, after) => {
    const { now } = show({ ...sampleOf(control), options: { form } }, before);
    expect((screen.getByLabelText("Value") as HTMLInputElement).value).toContain(shown);
    expect(now()).toBe(before);
    type(screen.getByLabelText("Value"), typed);
    expect(now()).toBe(after);
  });

  it("of a switch", () => {
    const { now } = show(sampleOf("switch"), false);
    fireEvent.click(screen.getByRole("switch"));
    expect(now()).toBe(true);
  });

  it("of words: Enter adds, Backspace takes away", () => {
    const { now } = show(sampleOf("tokens"), ["a"]);
    const input = screen.getByLabelText("Value");
    type(input, "b c");
    fireEvent.keyDown(input, { key: "Enter" });
    expect(now()).toEqual(["a", "b c"]);
    fireEvent.keyDown(input, { key: "Backspace" });
    expect(now()).toEqual(["a"]);
    fireEvent.click(screen.getByRole("button", { name: "Remove a" }));
    expect(now()).toEqual([]);
  });

  it("of words: half a word becomes one when the form is saved, and not before", () => {
    let flush: (settled: boolean) => void = () => undefined;
    const { now } = show(sampleOf("tokens"), ["a"], scope({ onFlush: (given) => ((flush = given), () => undefined) }));
    type(screen.getByLabelText("Value"), "half");
    flush(false);
    expect(now()).toEqual(["a"]);
    flush(true);
    expect(now()).toEqual(["a", "half"]);
  });

  it("of a list: items are added, changed, moved by keys, and removed", () => {
    const { now } = show(sampleOf("list"), [1, 2, 3]);
    const handles = screen.getAllByRole("button", { name: /^Move:/ });
    fireEvent.keyDown(handles[0] as HTMLElement, { key: "ArrowDown" });
    expect(now()).toEqual([2, 1, 3]);
    fireEvent.keyDown(screen.getAllByRole("button", { name: /^Move:/ })[0] as HTMLElement, { key: "ArrowUp" });
    expect(now()).toEqual([2, 1, 3]);
    type(screen.getByLabelText("Item 1"), "9");
    expect(now()).toEqual([9, 1, 3]);
    fireEvent.click(screen.getByRole("button", { name: "Remove Item 2" }));
    expect(now()).toEqual([9, 3]);
    fireEvent.click(screen.getByRole("button", { name: "Add an item" }));
    // Nobody has chosen a number yet.
    expect(now()).toEqual([9, 3, null]);
  });

  it("of an object keep the members that it does not show", () => {
    const { now } = show(sampleOf("object"), { other: 1 });
    type(screen.getByLabelText("A"), "x");
    expect(now()).toEqual({ other: 1, a: "x" });
    type(screen.getByLabelText("C"), "5");
    expect(now()).toEqual({ other: 1, a: "x", b: { c: 5 } });
  });

  it("of a union: another shape begins with its own empty value", () => {
    const { now } = show(sampleOf("union"), "auto");
    choose(screen.getByLabelText(/^Kind of value/), "1");
    expect(now()).toBeNull();
    choose(screen.getByLabelText(/^Kind of value/), "2");
    expect(now()).toEqual([]);
  });

  it("of a map: names can be changed, and two rows with one name stay", () => {
    const { now } = show(sampleOf("map"), { a: "1", b: "2" });
    type(screen.getByLabelText("Name 1"), "b");
    expect(now()).toEqual({ b: "2" });
    expect(screen.getAllByLabelText(/^Name /)).toHaveLength(2);
    type(screen.getByLabelText("Name 1"), "c");
    expect(now()).toEqual({ c: "1", b: "2" });
    fireEvent.click(screen.getByRole("button", { name: "Remove b" }));
    expect(now()).toEqual({ c: "1" });
  });

  it("of JSON: what is broken is told, and the last valid value stays", () => {
    const setBroken = vi.fn();
    const { now } = show(sampleOf("json"), { a: 1 }, scope({ setBroken }));
    type(screen.getByLabelText("Value"), '{"a": 2}');
    expect(now()).toEqual({ a: 2 });
    type(screen.getByLabelText("Value"), '{"a": ');
    expect(now()).toEqual({ a: 2 });
    expect(setBroken).toHaveBeenLastCalledWith("value", expect.any(String));
    expect((screen.getByLabelText("Value") as HTMLTextAreaElement).value).toBe('{"a": ');
  });

  it("of terms: a tree of check boxes, and a new term where it is missing", async () => {
    const form = scope();
    const { now } = show(sampleOf("terms"), [3], form);
    await waitFor(() => screen.getByLabelText("Ships"));
    expect((screen.getByLabelText("Land") as HTMLInputElement).checked).toBe(true);
    fireEvent.click(screen.getByLabelText("Ships"));
    expect(now()).toEqual([3, 2]);
    fireEvent.click(await screen.findByRole("button", { name: "Add topic" }));
    type(screen.getByLabelText("Name"), "Sails");
    choose(screen.getByLabelText("Parent"), "2");
    fireEvent.click(screen.getByRole("button", { name: "Add" }));
    await waitFor(() => expect(now()).toEqual([3, 2, 77]));
    expect((form.adapter as Adapter & { created: Item[] }).created).toEqual([{ parent: 2, name: "Sails" }]);
  });

  it("of a relation: names are looked up, and can be taken away", async () => {
    const { now } = show(sampleOf("relation"), [6, 5]);
    await waitFor(() => screen.getByText("Harbour"));
    fireEvent.click(screen.getByRole("button", { name: "Remove Harbour" }));
    expect(now()).toEqual([5]);
  });

  it("of a file: it is shown, and can be taken away", async () => {
    const { now } = show(sampleOf("file"), 9);
    await waitFor(() => screen.getByText("Lamp"));
    fireEvent.click(screen.getByRole("button", { name: "Remove Lamp" }));
    expect(now()).toBe(0);
  });

  it("of a state: offered are those that may be chosen", () => {
    const { now } = show(sampleOf("state"), "draft", scope({ record: () => ({ value: "draft" }), barred: () => ["publish"] }));
    const select = screen.getByLabelText("Value") as HTMLSelectElement;
    expect([...select.options].map((option) => option.value)).toEqual(["draft"]);
    expect(now()).toBe("draft");
  });
});

describe("helpers of controls", () => {
  it("colours have six digits", () => {
    expect(["#abc", "#A1B2C3", "red", ""].map(sixDigits)).toEqual(["#aabbcc", "#a1b2c3", "#000000", "#000000"]);
  });

  it("passwords are long and differ", () => {
    const made = Array.from({ length: 50 }, newPassword);
    expect(made.every((one) => /^[a-zA-Z0-9]{20}$/.test(one))).toBe(true);
    expect(new Set(made).size).toBe(50);
  });

  it("items move", () => {
    expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
    expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
  });

  it("rows are an object", () => {
    expect(objectOf([{ name: "a", value: 1 }, { name: "", value: 2 }, { name: "a", value: 3 }])).toEqual({ a: 3 });
  });

  it("ids are numbers or words, as the schema says; 0 is none", () => {
    const one = sampleField({ type: "integer" });
    expect([idsOf(0), idsOf(5), idsOf([1, 0, "a"]), idsOf(null), idsOf("")]).toEqual([[], [5], [1, "a"], [], []]);
    expect([valueOf([], one), valueOf(["5"], one), valueOf(["a"], sampleField({ type: "string" })), valueOf([], sampleField({ type: ["integer", "null"] }))]).toEqual([0, 5, "a", null]);
    expect(valueOf(["1", "2"], sampleField(many))).toEqual([1, 2]);
  });

  it("addresses follow the slug", () => {
    expect(addressWith({ permalink_template: "https://s.example/2025/%postname%/" }, "new")).toBe("https://s.example/2025/new/");
    expect(addressWith({ link: "https://s.example/old/old-lamp/", slug: "old-lamp" }, "lamp")).toBe("https://s.example/old/lamp/");
    expect(addressWith({ link: "https://s.example/?p=1", slug: "x" }, "lamp")).toBeNull();
  });

  it("trees survive parents that are gone, and circles", () => {
    const term = (id: string, parent: string) => ({ id, name: `T${id}`, parent });
    const tree = treeOf([term("1", "0"), term("2", "1"), term("3", "9"), term("4", "5"), term("5", "4")]);
    const count = (branches: typeof tree): number => branches.reduce((sum, branch) => sum + 1 + count(branch.children), 0);
    expect(count(tree)).toBe(5);
    expect(filtered(tree, "t2").map((branch) => [branch.term.id, branch.children.map((child) => child.term.id)])).toEqual([["1", ["2"]]]);
  });

  it("of a union the alternative that fits is shown", () => {
    const union = sampleField({ oneOf: [{ type: "string", format: "email" }, { type: "string" }, { type: "object", properties: { a: { type: "string", required: true } } }, { type: "null" }] });
    expect([alternativeOf(union, "a@b.c"), alternativeOf(union, "x"), alternativeOf(union, { a: "1" }), alternativeOf(union, null), alternativeOf(union, {}), alternativeOf(union, 5)]).toEqual([0, 1, 2, -1, -1, -1]);
  });

  it("every row of the table has a component", () => {
    expect(ROWS.every((row) => typeof componentOf(row.name) === "function")).toBe(true);
  });
});
