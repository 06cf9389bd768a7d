import { describe, expect, it } from "vitest";
import { conflictsOf, merged, proposed } from "../../src/model/conflicts";
import { fieldsOf } from "../../src/model/fields";
import { arrange, arrangeSingleton, fieldsIn, type Group } from "../../src/model/form-layout";
import type { JsonSchema } from "../../src/model/json-schema";
import { place, shownAt } from "../../src/model/messages";
import { allowed, methodsOf, permissionsOf } from "../../src/model/permissions";
import { choosable, named, stepsOf, type Situation } from "../../src/model/states";
import { changes, empty, equal, initial, readRecord, withMember } from "../../src/model/values";
import { sampleField, sampleResource, sampleState, STATES } from "./sample";

const wrapped: JsonSchema = { type: "object", properties: { raw: { type: "string" }, rendered: { type: "string", readonly: true } } };
const properties: Record<string, JsonSchema> = {
  id: { type: "integer", readonly: true },
  title: wrapped,
  content: wrapped,
  status: { type: "string", enum: ["publish", "future", "draft", "pending", "private"] },
  date: { type: ["string", "null"], format: "date-time" },
  date_gmt: { type: ["string", "null"], format: "date-time" },
  slug: { type: "string" },
  link: { type: "string", format: "uri", readonly: true },
  author: { type: "integer" },
  starts: { type: "string", format: "date-time" },
  hours: { type: "array", items: { type: "object", properties: { from: { type: "string" } } } },
  meta: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
};
const fields = fieldsOf({ properties, args: properties, hints: { meta: { control: "meta" } }, parameters: [] });

describe("values", () => {
  const record = { id: 7, title: { raw: "A &amp; B", rendered: "A &#038; B" }, content: { raw: "x", rendered: "<p>x</p>" }, status: "draft", meta: { a: "1", b: "2" }, hours: [{ from: "8" }] };
  const original = readRecord(fields, record);

  it("of a form are what the record has, raw", () => {
    expect(original).toEqual({ id: 7, title: "A &amp; B", content: "x", status: "draft", meta: { a: "1", b: "2" }, hours: [{ from: "8" }] });
  });

  it("that nobody touched are not sent", () => {
    expect(changes(fields, original, structuredClone(original))).toEqual({});
  });

  it("that differ are sent as the server takes them; what it computes never is", () => {
    const values = { ...original, id: 8, title: "New", meta: { a: "1", b: "3" }, hours: [{ from: "9" }] };
    expect(changes(fields, original, values)).toEqual({ title: { raw: "New" }, meta: { b: "3" }, hours: [{ from: "9" }] });
  });

  it("that are taken away from a merged object are null", () => {
    expect(changes(fields, original, { ...original, meta: { b: "2" } })).toEqual({ meta: { a: null } });
  });

  it("are equal as JSON", () => {
    expect(equal({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
    expect(equal({ a: undefined }, { b: undefined })).toBe(false);
    expect(equal([], {})).toBe(false);
    expect(equal(0, false)).toBe(false);
  });

  it("begin with the default, else empty", () => {
    expect(initial(sampleField({ type: "integer", default: 5 }))).toBe(5);
    expect(initial(sampleField({ type: ["string", "null"] }))).toBeNull();
    // A bound is no value, and neither is the first of several choices.
    expect(empty(sampleField({ type: "integer", minimum: 2 }))).toBeNull();
    expect(empty(sampleField({ type: "string", enum: ["a", "b"] }))).toBeNull();
    expect(empty(sampleField({ type: "string", enum: ["a"] }))).toBe("a");
    const price = { type: "integer", minimum: 1, required: true } as const;
    expect(empty(sampleField({ type: "object", properties: { adults: price, kind: { type: "string", enum: ["a", "b"], required: true } } }))).toEqual({});
    expect(empty(sampleField({ type: "object", properties: { a: { type: "string", required: true }, b: { type: "string" } } }))).toEqual({ a: "" });
    expect(empty(sampleField({ oneOf: [{ type: "array", items: {} }, { type: "string" }] }))).toEqual([]);
  });

  it("a member with any name stays a member", () => {
    const copy = withMember({}, "__proto__", 1);
    expect(Object.keys(copy)).toEqual(["__proto__"]);
    expect(withMember({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
  });
});

describe("messages", () => {
  const refused = (data: unknown): ReturnType<typeof place> => place({ code: "rest_invalid_param", message: "Refused.", data }, fields);

  it("land on their fields, with the label instead of the name", () => {
    expect(refused({ params: { starts: "starts is not a date." }, details: { starts: { code: "x", message: "starts is not a date.", data: null } } })).toEqual({
      fields: { starts: "Starts is not a date." }, rest: [],
    });
  });

  it("land inside a field where the details say so", () => {
    expect(refused({ params: { hours: "hours[0][from] is empty." }, details: { hours: { code: "x", data: { param: "hours[0][from]" } } } })).toEqual({
      fields: { "hours.0.from": "From is empty." }, rest: [],
    });
    // The details need not say so: the message does.
    expect(refused({ params: { hours: "hours is not valid as Day: hours[1][from] is empty." } })).toEqual({ fields: { "hours.1.from": "From is empty." }, rest: [] });
    expect(refused({ params: { hours: "hours[0][none] is empty." } })).toEqual({ fields: { hours: "hours[0][none] is empty." }, rest: [] });
  });

  it("of what is missing land on each field", () => {
    expect(refused({ params: ["starts", "slug"] })).toEqual({ fields: { starts: "Refused.", slug: "Refused." }, rest: [] });
  });

  it("of what the form does not have, or cannot change, stand above it", () => {
    expect(refused({ params: { force: "force is wrong.", id: "id is wrong." } })).toEqual({ fields: {}, rest: ["force is wrong.", "id is wrong."] });
    expect(refused({ status: 403 })).toEqual({ fields: {}, rest: ["Refused."] });
    expect(refused(undefined)).toEqual({ fields: {}, rest: ["Refused."] });
  });

  it("about the raw text land on the text", () => {
    const placed = place({ code: "x", message: "m", data: { params: { title: "title[raw] is too long." }, details: { title: { data: { param: "title[raw]" } } } } }, fields);
    expect(Object.keys(shownAt(placed, fields))).toEqual(["title"]);
  });
});

describe("conflicts", () => {
  const base = { title: "A", content: "1", slug: "a", author: 1 };
  const mine = { title: "B", content: "1", slug: "mine", author: 1 };
  const theirs = { title: "A", content: "2", slug: "theirs", author: 1 };

  it("are the fields that differ now", () => {
    const found = conflictsOf(fields, base, mine, theirs);
    expect(found.map((one) => [one.field.path, one.both, proposed(one)])).toEqual([["title", false, "mine"], ["content", false, "theirs"], ["slug", true, "mine"]]);
  });

  it("the choice is saved on top of theirs", () => {
    const values = merged(fields, mine, theirs, { title: "mine", content: "theirs", slug: "theirs" });
    expect(values).toMatchObject({ title: "B", content: "2", slug: "theirs", author: 1 });
    expect(changes(fields, theirs, values)).toEqual({ title: { raw: "B" } });
  });

  it("none are left where both did the same", () => {
    expect(conflictsOf(fields, base, { ...base, slug: "x" }, { ...base, slug: "x" })).toEqual([]);
  });
});

describe("what the caller may do", () => {
  const links = [
    { rel: "https://api.example/action-publish", targetSchema: { type: "object", properties: { status: { type: "string", enum: ["publish", "future"] } } } },
    { rel: "https://api.example/action-assign-author", targetSchema: { type: "object", properties: { author: { type: "integer" } } } },
    { rel: "https://api.example/action-unfiltered-html", targetSchema: { type: "object", properties: { content: { raw: { type: "string" } } } } },
    { rel: "self" },
  ];

  it("follows from the relations of the record, whatever their prefix", () => {
    const some = permissionsOf(links, { _links: { self: [], "cms:action-assign-author": [{}] } });
    expect([...some.actions]).toEqual(["assign-author"]);
    expect([...some.locked]).toEqual([]);
    expect(some.barred).toEqual({ status: ["publish", "future"] });
    const none = permissionsOf(links, {});
    expect([...none.locked]).toEqual(["author"]);
    expect(allowed(fields, none).filter((field) => field.readOnly).map((field) => field.path)).toEqual(["id", "link", "author"]);
    expect([...permissionsOf(links, { _links: { "wp:action-publish": [], "https://api.example/action-assign-author": [] } }).actions]).toEqual(["publish", "assign-author"]);
  });

  it("and from the methods", () => {
    expect(methodsOf("GET, patch")).toEqual(new Set(["GET", "PATCH"]));
    expect(methodsOf(null)).toBeNull();
  });
});

describe("states", () => {
  const at = (changes: Partial<Situation>): Situation => ({ isNew: false, saved: "draft", chosen: "draft", future: false, mayPublish: true, ...changes });
  const kinds = (situation: Situation): (string | null)[] => {
    const { primary, secondary, more } = stepsOf(STATES, situation);
    return [primary.kind, primary.state, secondary?.kind ?? null, ...more.map((step) => step.kind)];
  };

  it.each<[string, Partial<Situation>, (string | null)[]]>([
    ["a new record", { isNew: true, saved: null, chosen: null }, ["publish", "publish", "saveDraft"]],
    ["a draft", {}, ["publish", "publish", "saveDraft"]],
    ["a draft with a date in the future", { future: true }, ["schedule", "publish", "saveDraft"]],
    ["a draft of somebody who may not publish", { mayPublish: false }, ["submit", "pending", "saveDraft"]],
    ["one that waits for review, for somebody who may publish", { saved: "pending", chosen: "pending" }, ["publish", "publish", "update"]],
    ["one that waits for review, for its author", { saved: "pending", chosen: "pending", mayPublish: false }, ["update", null, null]],
    ["a published record", { saved: "publish", chosen: "publish" }, ["update", null, null, "revert"]],
    ["a scheduled record", { saved: "future", chosen: "future", future: true }, ["update", null, null, "publishNow", "revert"]],
    ["a scheduled record whose date is over now", { saved: "future", chosen: "future" }, ["publish", null, null, "publishNow", "revert"]],
    ["a published record with a date in the future", { saved: "publish", chosen: "publish", future: true }, ["schedule", null, null, "revert"]],
    ["a draft that was chosen to wait for review", { chosen: "pending" }, ["submit", null, null]],
    ["a new record that was chosen to wait for review", { isNew: true, saved: null, chosen: "pending" }, ["submit", null, null]],
    ["a draft that was chosen to be public", { chosen: "publish" }, ["publish", null, null]],
    ["a draft that was chosen to be private", { chosen: "private" }, ["update", null, null]],
    ["a published record that was chosen to be a draft", { saved: "publish", chosen: "draft" }, ["revert", null, null]],
    ["one that waits for review and was chosen to be a draft", { saved: "pending", chosen: "draft" }, ["saveDraft", null, null]],
  ])("%s", (_, situation, expected) => {
    expect(kinds(at(situation))).toEqual(expected);
  });

  it("without states there is one button", () => {
    expect(stepsOf([], at({ isNew: true })).primary.kind).toBe("create");
    expect(stepsOf([], at({})).primary.kind).toBe("save");
  });

  it("offered are those that the request takes and the caller may choose", () => {
    const status = fields.find((field) => field.path === "status") ?? sampleField({ type: "string" });
    const names = (current: string | null, barred: unknown[]): string[] => choosable(STATES, status, current, barred).map((state) => state.name);
    expect(names("draft", [])).toEqual(["publish", "draft", "pending", "private"]);
    expect(names("draft", ["publish", "future"])).toEqual(["draft", "pending", "private"]);
    expect(names("future", [])).toContain("future");
    expect(names("trash", [])).toContain("trash");
  });

  it("have the names that their field takes", () => {
    const field = sampleField({ type: "string", enum: ["Publish", "Future", "draft"] });
    const states = named(STATES, field);
    expect(stepsOf(states, at({})).primary.state).toBe("Publish");
    expect(stepsOf(states, at({ saved: "Publish", chosen: "Publish" })).primary.kind).toBe("update");
    expect(choosable(states, field, "draft", []).map((state) => state.name)).toEqual(["publish", "draft"]);
  });

  it("of comments have the names that requests use", () => {
    const states = [sampleState("approved", { public: true, names: ["approve", "approved"] }), sampleState("hold", { review: true, names: ["hold"] })];
    expect(stepsOf(states, at({ saved: "hold", chosen: "hold" })).primary.state).toBe("approve");
    expect(stepsOf(states, at({ saved: "approved", chosen: "approved" })).primary).toMatchObject({ kind: "update", state: null });
  });
});

describe("arrangement", () => {
  const text = (group: string): string => group;
  const paths = (places: Parameters<typeof fieldsIn>[0]): string[] => fieldsIn(places).map((field) => field.path);

  it("is derived: texts and own fields large, the rest beside them", () => {
    const { main, side } = arrange(sampleResource({ states: ["draft"] }), fields, text, false);
    expect(paths(main)).toEqual(["title", "content", "starts", "hours", "meta"]);
    expect(side.map((group) => [group.id, paths(group.children)])).toEqual([
      ["state", ["status", "date"]], ["address", ["slug"]], ["people", ["author"]], ["readOnly", ["id", "link"]],
    ]);
  });

  it("of a new record has nothing that the server computes", () => {
    const { side } = arrange(sampleResource({ states: ["draft"] }), fields, text, true);
    expect(side.map((group) => group.id)).not.toContain("readOnly");
  });

  it("has one column where nothing stands beside it but what is folded", () => {
    const plain = fields.filter((field) => ["id", "title", "starts"].includes(field.path));
    const { main, side } = arrange(sampleResource(), plain, text, false);
    expect([paths(main), side]).toEqual([["title", "starts", "id"], []]);
  });

  it("follows the declaration where there is one", () => {
    const view = { default_view: {}, default_layouts: {}, view_list: [], form: { layout: { type: "regular" }, fields: ["title", { id: "when", label: "When", layout: { type: "panel" }, children: ["starts", "date"] }, { id: "r", layout: { type: "row" }, children: ["slug", "author"] }, "title", "no_such_field"] } };
    const { main, side } = arrange(sampleResource({ view }), fields, text, false);
    expect(paths(main)).toEqual(["title", "slug", "author"]);
    expect((main[1] as Group).layout).toBe("row");
    expect(side.map((group) => [group.label, paths(group.children)])).toEqual([["When", ["starts", "date"]], ["readOnly", ["id", "link"]]]);
  });

  it("a plain list of names says which fields there are, and not where", () => {
    const view = { default_view: {}, default_layouts: {}, view_list: [], form: { layout: { type: "panel" }, fields: ["starts", "title", "slug"] } };
    const { main, side } = arrange(sampleResource({ view }), fields, text, false);
    expect(paths(main)).toEqual(["title", "starts"]);
    expect(side.map((group) => [group.id, paths(group.children)])).toEqual([["address", ["slug"]], ["readOnly", ["id", "link"]]]);
  });

  it("groups stand in the way of the form; the state comes first in its own", () => {
    const view = { default_view: {}, default_layouts: {}, view_list: [], form: { layout: { type: "panel" }, fields: ["title", { id: "state", label: "X", children: ["date", "status"] }] } };
    const state = fields.map((field) => (field.path === "status" ? { ...field, control: "state" as const } : field));
    const { main, side } = arrange(sampleResource({ view, states: ["draft"] }), state, text, true);
    expect([paths(main), side.map((group) => [group.label, paths(group.children)])]).toEqual([["title"], [["state", ["status", "date"]]]]);
  });

  it("of a singleton is in groups", () => {
    const groups = arrangeSingleton(sampleResource({ key: null }), fields, text);
    expect(groups.map((group) => group.id)).toEqual(["values", "meta"]);
  });
});
