import { describe, expect, it } from "vitest";
import type { Description, Operation, Resource } from "../../src/api/description";
import { nameOfPanel, ownResource, panelsOf, presetOf, relationsTo, shownOnce, treeFieldsOf } from "../../src/related/panels";

function operation(path: string, args: string[] = [], method: Operation["method"] = "GET"): Operation {
  return { method, path, args, file: false, batch: true };
}

function resource(name: string, more: Partial<Resource> = {}): Resource {
  return {
    name, api_name: name, group: "", label: name, singular: name, description: "", icon: "", labels: {}, key: "id", parent: null,
    operations: { list: operation(`/x/v1/${name}`, ["page", "where"]), update: operation(`/x/v1/${name}/{id}`, ["order", "parent"], "POST") },
    supports: [], hierarchical: false, states: [], taxonomies: [], fields: {}, view: { default_view: {}, default_layouts: {}, view_list: [], form: {} }, ...more,
  };
}

function described(...resources: Resource[]): Description {
  const site = { title: "", url: "http://x.example", language: "en", timezone: "UTC", start_of_week: 1, max_upload: 0, upload_types: [] };
  return { version: "1", site, groups: [], resources, states: [] };
}

const people = resource("folk", { operations: { list: operation("/x/v1/folk"), get_me: operation("/x/v1/folk/me") } });
const keys = resource("keys", { key: "uuid", parent: { resource: "folk", parameter: "folk_id" }, operations: { list: operation("/x/v1/folk/{folk_id}/keys") } });
const essays = resource("essays", {
  operations: { list: operation("/x/v1/essays", ["page", "where", "author", "shelves"]), create: operation("/x/v1/essays", ["author", "shelves"], "POST") },
  taxonomies: ["shelves"],
  fields: { author: { relation: { resources: ["folk"], many: false }, operators: ["eq"] }, cover: { relation: { resources: ["prints"], many: false }, operators: ["eq", "in"] }, silent: { relation: { resources: ["prints"], many: false } }, shelves: { relation: { resources: ["shelves"], many: true } } },
});
const prints = resource("prints");
const shelves = resource("shelves");
const remarks = resource("remarks", { operations: { list: operation("/x/v1/remarks", ["about"]) } });
const all = described(people, keys, essays, prints, shelves, remarks);

describe("panels", () => {
  it("are records below the record, then those that refer to it", () => {
    const panels = panelsOf(people, 3, {}, all);
    expect(panels.map(nameOfPanel)).toEqual(["keys/below", "essays/author"]);
    expect(panels[0]).toMatchObject({ kind: "below", parameter: "folk_id" });
    expect(panels[1]).toMatchObject({ kind: "referring", query: { author: 3 } });
  });

  it("use criteria where there is no argument, and nothing where lists cannot be filtered", () => {
    expect(relationsTo(prints, all).map(({ field }) => field)).toEqual(["cover"]);
    expect(relationsTo(prints, all)[0]?.select(9)).toEqual({ where: { cover: { eq: 9 } } });
  });

  it("follow from links of the record, too, without its terms and what has no list", () => {
    const item = {
      _links: {
        replies: [{ href: "http://x.example/json/x/v1/remarks?about=5" }],
        terms: [{ href: "http://x.example/json/x/v1/shelves?about=5" }],
        "version-history": [{ href: "http://x.example/json/x/v1/essays/5/revisions" }],
        collection: [{ href: "http://x.example/json/x/v1/essays" }],
        odd: [{ href: "::" }, null, 3],
      },
    };
    expect(panelsOf(essays, 5, item, all)).toEqual([{ kind: "referring", resource: remarks, field: "about", query: { about: "5" } }]);
  });

  it("say what a new record refers to", () => {
    const [panel] = panelsOf(shelves, 4, {}, all);
    expect(panel === undefined ? null : presetOf(panel, 4)).toEqual({ shelves: [4] });
    const [own] = panelsOf(people, 3, {}, all);
    expect(own === undefined ? null : presetOf(own, 3)).toBeNull();
  });
});

describe("a new record", () => {
  it("has members that are shown once", () => {
    expect(shownOnce({ uuid: "a", name: "Phone", secret: "abcd efgh", _links: "x", none: "" }, { uuid: "a", name: "Phone" })).toEqual([["secret", "abcd efgh"]]);
  });
});

describe("the description", () => {
  it("tells whose records the callers are", () => {
    expect(ownResource(all)?.name).toBe("folk");
    expect(ownResource(described(keys))).toBeNull();
  });

  it("tells which lists are trees with an order", () => {
    const tree = (layout: Record<string, unknown>): Resource => resource("items", { view: { default_view: {}, default_layouts: { tree: { layout } }, view_list: [], form: {} } });
    expect(treeFieldsOf(tree({ orderField: "order" }))).toEqual({ order: "order", parent: "parent" });
    expect(treeFieldsOf(tree({ orderField: "gone" }))).toBeNull();
    expect(treeFieldsOf(tree({}))).toBeNull();
    expect(treeFieldsOf(resource("items"))).toBeNull();
  });
});
