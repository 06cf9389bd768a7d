import { expect, it } from "vitest";
import { fieldsOf } from "../../src/model/fields";
import type { JsonSchema } from "../../src/model/json-schema";
import { differingRows, heldValues, presentVersion, restoring, revisionOf, versionBefore, versionTime } from "../../src/screens/revisions/model";

const wrapped: JsonSchema = { type: "object", properties: { raw: { type: "string" }, rendered: { type: "string", readonly: true } } };
const properties: Record<string, JsonSchema> = {
  id: { type: "integer", readonly: true }, title: wrapped, content: wrapped, slug: { type: "string" }, author: { type: "integer" }, date: { type: "string" },
  price: { type: "number" }, meta: { type: "object", properties: { a: { type: "string" } } },
};
const fields = fieldsOf({ properties, args: properties, hints: {}, parameters: [] });
const item = { id: 12, author: 3, date: "2026-01-02T03:04:05", modified: "2026-01-02T03:04:06", slug: "7-revision-v1", parent: 7, title: { raw: "A", rendered: "" }, content: { raw: "", rendered: "" }, meta: { a: "1" } };

it("a revision has the record's texts and meta; what it has of its own is not the record's", () => {
  const revision = revisionOf(item, fields);
  expect(revision).toEqual({ id: "12", author: 3, date: "2026-01-02T03:04:06", autosave: false, values: { title: "A", content: "", meta: { a: "1" } } });
  expect(revisionOf({ ...item, slug: "7-autosave-v1" }, fields).autosave).toBe(true);
});

it("the fields that differ are compared; those that a revision does not have are left out", () => {
  const revision = revisionOf(item, fields);
  const present = { title: "B", content: "", slug: "b", price: 5, meta: { a: "1" } };
  expect(differingRows(fields, present, revision.values).map((row) => [row.field.path, row.before, row.after])).toEqual([["title", "B", "A"]]);
  expect(differingRows(fields, null, revision.values).map((row) => row.field.path)).toEqual(["title", "meta"]);
});

it("what an older version does not hold is not compared", () => {
  const older = revisionOf({ ...item, title: { raw: "B", rendered: "" } }, fields);
  const newer = revisionOf({ ...item, price: 5 }, fields);
  expect(differingRows(fields, older.values, newer.values).map((row) => row.field.path)).toEqual(["title"]);
});

it("restoring is an update of what differs", () => {
  const revision = revisionOf(item, fields);
  expect(restoring(fields, { title: "B", content: "x", meta: { a: "1" } }, revision)).toEqual({ title: { raw: "A" }, content: { raw: "" } });
  expect(restoring(fields, { title: "A", content: "", meta: { a: "1" } }, revision)).toEqual({});
});

it("an autosave is no version that others are compared with, and is compared with the record", () => {
  const version = (id: number, title: string, slug = "7-revision-v1") => revisionOf({ ...item, id, title: { raw: title }, slug }, fields);
  const list = [version(4, "", "7-autosave-v1"), version(3, "C"), version(2, "", "7-autosave-v1"), version(1, "A")];
  expect(list.map((one) => versionBefore(list, one)?.id ?? null)).toEqual([null, "1", null, null]);
  expect(presentVersion(fields, list, { title: "C", content: "", meta: { a: "1" } })?.id).toBe("3");
  expect(presentVersion(fields, list, { title: "D", content: "", meta: { a: "1" } })).toBeNull();
});

it("own properties are compared and brought back; where only texts are held, meta says nothing", () => {
  const whole = { ...item, price: 5, meta: { a: "" } };
  const revision = revisionOf(whole, fields);
  expect(restoring(fields, { title: "A", content: "", price: 6, meta: { a: "1" } }, revision)).toEqual({ price: 5, meta: { a: "" } });
  expect(heldValues({ ...item, meta: { a: "" } }, fields)).toEqual({ title: "A", content: "" });
  expect(heldValues({ ...item, meta: [] }, fields)).toEqual({ title: "A", content: "" });
});

it("versions of one minute have their seconds", () => {
  const list = ["2026-01-02T03:04:05", "2026-01-02T03:04:41", "2026-01-02T03:06:00"].map((modified, id) => revisionOf({ ...item, id, modified }, fields));
  expect(list.map((one) => versionTime(one.date, list, "UTC", "en").replace(/\s/g, " "))).toEqual(["Jan 2, 2026, 3:04:05 AM", "Jan 2, 2026, 3:04:41 AM", "Jan 2, 2026, 3:06 AM"]);
});
