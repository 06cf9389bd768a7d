import { expect, it } from "vitest";
import { loadForm } from "../../src/screens/form/load";
import { countsBy } from "../../src/model/counts";
import { labelOfField } from "../../src/model/record";
import { fakeApi } from "../fixtures/api";
import { sampleResource } from "./sample";

const IDS = { type: "array", items: { type: "integer" } };
const PROPERTIES = { name: { type: "string", title: "Headline" }, speakers: IDS, fallback_venues: IDS, venues: IDS, gallery: IDS, featured_media: { type: "integer" }, slug: { type: "string" } };
const to = (resource: string, many = true): { relation: { resources: string[]; many: boolean } } => ({ relation: { resources: [resource], many } });
const FIELDS = {
  name: { label: "Headline" }, speakers: to("users"), fallback_venues: to("pages"), venues: to("pages"), gallery: to("media"),
  featured_media: { ...to("media", false), label: "Featured image" },
};

it("a property without a label is called by its own name, wherever it is shown", async () => {
  const path = "/own/v1/talks";
  const operation = { method: "POST" as const, path, args: Object.keys(PROPERTIES), file: false, batch: false };
  const talks = sampleResource({ name: "talks", operations: { list: { ...operation, method: "GET" }, create: operation }, fields: FIELDS });
  const { api } = fakeApi(() => ({ body: { endpoints: [{ methods: ["GET"], args: {} }, { methods: ["POST"], args: PROPERTIES }], schema: { properties: PROPERTIES } } }));
  const { fields } = await loadForm(api, talks, null, {}, null);
  const expected = { name: "Headline", speakers: "Speakers", fallback_venues: "Fallback venues", venues: "Venues", gallery: "Gallery", featured_media: "Featured image", slug: "Slug" };
  expect(Object.fromEntries(fields.map((field) => [field.path, field.label]))).toEqual(expected);
  for (const [name, label] of Object.entries(expected)) {
    expect(labelOfField(talks, name)).toBe(label);
  }
});

it("states are counted in one request only where the list counts them", () => {
  const list = { method: "GET" as const, path: "/x", args: ["status", "_count_by"], file: false, batch: false };
  const talks = (fields: object): ReturnType<typeof sampleResource> => sampleResource({ operations: { list }, fields: fields as never });
  expect(countsBy(talks({ status: { operators: ["eq"] } }), "status")).toBe(true);
  expect(countsBy(talks({ price: { operators: ["eq"] } }), "status")).toBe(false);
  expect(countsBy(sampleResource({ operations: { list: { ...list, args: ["status"] } }, fields: { status: { operators: ["eq"] } } }), "status")).toBe(false);
});
