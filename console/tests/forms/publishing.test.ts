import { describe, expect, it } from "vitest";
import { lacks } from "../../src/model/publishing";
import { sampleDescription, sampleField, sampleResource } from "./sample";

const description = sampleDescription([{ ...sampleResource({}), name: "categories", hierarchical: true }, { ...sampleResource({}), name: "tags", hierarchical: false }]);
const field = (path: string, more: object = {}) => ({ ...sampleField({ type: "string" }), path, name: path, label: path, ...more });
const fields = [
  field("title"), field("content"), field("featured_media"),
  field("categories", { control: "terms", relation: { resources: ["categories"], many: true } }),
  field("tags", { control: "terms", relation: { resources: ["tags"], many: true } }),
];

describe("before a record becomes public", () => {
  const kinds = (values: Record<string, unknown>): string[] => lacks(fields, values, description).map((one) => ("field" in one ? one.field.path : one.kind === "alt" ? `alt ${one.count}` : one.kind));

  it("what readers miss is said", () => {
    expect(kinds({ title: " ", content: "", featured_media: 0, categories: [], tags: [] })).toEqual(["title", "featured_media", "categories"]);
    expect(kinds({ title: "A", content: "x", featured_media: 5, categories: [1], tags: [] })).toEqual([]);
  });

  it("images without a text are counted", () => {
    const content = '<img src="a.png" alt=""/><img src="b.png"><img alt="A boat" src="c.png"/><img alt=\'x\'><IMG ALT=" ">';
    expect(kinds({ title: "A", content, featured_media: 5, categories: [1] })).toEqual(["alt 3"]);
  });

  it("what the record does not have is not missed", () => {
    expect(lacks([field("name")], {}, description)).toEqual([]);
    expect(lacks([field("title", { readOnly: true })], {}, description)).toEqual([]);
  });
});
