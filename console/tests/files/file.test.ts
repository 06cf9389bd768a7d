import { describe, expect, it } from "vitest";
import type { Schemas } from "../../src/api/schema";
import type { Adapter, Item } from "../../src/api/adapter";
import type { Description, Resource } from "../../src/api/description";
import { editsPictures, fileOf, isWanted, ownAddress, previewOf, takesFiles } from "../../src/files/file";
import { names, searchName, showsById, usesOf } from "../../src/files/usage";

const operation = { method: "GET" as const, path: "/x/v1/prints", args: [] as string[], file: false, batch: false };

function resource(name: string, more: Partial<Resource> = {}): Resource {
  return {
    name, api_name: name, group: "", label: name, singular: name, description: "", icon: "", labels: {}, key: "id", parent: null,
    operations: { list: operation }, supports: [], hierarchical: false, states: [], taxonomies: [], fields: {},
    view: { default_view: {}, default_layouts: {}, view_list: [], form: {} }, ...more,
  };
}

const library = resource("prints", { supports: ["files"], operations: { list: operation, create: { ...operation, file: true }, edit: { ...operation, args: ["src", "modifiers"] } } });
const item: Item = {
  id: 5, title: { raw: "Light & sea", rendered: "Light &amp; sea" }, alt_text: "A lighthouse", caption: { raw: "At dawn" }, mime_type: "image/jpeg", filesize: 90210,
  source_url: "http://site.example/files/2025/light.jpg",
  media_details: {
    width: 1600, height: 1000,
    sizes: { thumbnail: { source_url: "http://site.example/files/2025/light-150x150.jpg", width: 150, height: 150 }, medium: { source_url: "http://site.example/files/2025/light-300x188.jpg", width: 300, height: 188 } },
  },
};
const file = fileOf(library, item);

describe("a file", () => {
  it("is read from its record", () => {
    expect(file).toMatchObject({ id: "5", name: "Light & sea", filename: "light.jpg", alt: "A lighthouse", caption: "At dawn", bytes: 90210, width: 1600 });
    expect(fileOf(library, { id: 6 })).toMatchObject({ name: "", url: "", bytes: null, sizes: {} });
  });

  it("has the smallest picture that is wide enough", () => {
    expect(previewOf(file, 100)).toContain("light-150x150.jpg");
    expect(previewOf(file, 200)).toContain("light-300x188.jpg");
    expect(previewOf(file, 800)).toBe("http://site.example/files/2025/light.jpg");
    expect(previewOf(fileOf(library, { id: 1, mime_type: "application/pdf", source_url: "http://site.example/a.pdf" }), 100)).toBeNull();
  });

  it("is loaded only from the site", () => {
    expect(ownAddress("http://site.example/a.jpg", "http://site.example", "http://127.0.0.1:8080")).toBe("/a.jpg");
    expect(ownAddress("http://elsewhere.example/a.jpg", "http://site.example", "http://127.0.0.1:8080")).toBeNull();
    expect(ownAddress("javascript:alert(1)", "http://site.example", "http://127.0.0.1:8080")).toBeNull();
  });

  it("is wanted by its type or the first part of it", () => {
    expect([isWanted("image/png", ["image"]), isWanted("image/png", ["image/*"]), isWanted("video/mp4", ["image"]), isWanted("video/mp4", [])]).toEqual([true, true, false, true]);
  });
});

describe("a resource of files", () => {
  it("is known by its features and operations", () => {
    expect([takesFiles(library), editsPictures(library)]).toEqual([true, true]);
    expect([takesFiles(resource("essays")), editsPictures(resource("essays"))]).toEqual([false, false]);
  });
});

describe("uses of a file", () => {
  const essays = resource("essays", { supports: ["editor"], operations: { list: { ...operation, args: ["search", "where"] } }, fields: { cover: { relation: { resources: ["prints"], many: false }, operators: ["eq"] } } });
  const closed = resource("closed", { supports: ["editor"], operations: { list: { ...operation, args: ["search"] } } });

  it("are looked for by name, and proved by address", () => {
    expect(searchName(file)).toBe("light");
    expect(names('<img src="http://site.example/files/2025/light-300x188.jpg">', file)).toBe(true);
    expect(names("a light evening", file)).toBe(false);
    const shown = [
      '<img class="alignleft wp-image-5" src="https://cdn.example/x.jpg">', '<!-- wp:image {"id":5,"sizeSlug":"large"} -->', '<!-- wp:media-text {"mediaId":5} -->', '<!-- wp:gallery {"ids":[4,5]} -->',
      '<!-- wp:core/file {"id":5} /-->',
    ];
    const others = ['<img class="wp-image-55">', '<img class="wp-image-5-x">', '<!-- wp:image {"id":55} -->', '<!-- wp:navigation-link {"id":5,"kind":"taxonomy"} /-->', 'the price: {"id":5}', '<!-- wp:image {"id":5 -->'];
    expect(shown.map((text) => showsById(text, "5"))).toEqual(shown.map(() => true));
    expect(others.map((text) => showsById(text, "5"))).toEqual(others.map(() => false));
  });

  it("are relations and contents; a list that fails hides no other", async () => {
    const asked: unknown[] = [];
    const adapter = {
      list: async (of: Resource, query: Record<string, unknown>) => {
        asked.push([of.name, query]);
        if (of === closed) throw new Error("forbidden");
        const items: Item[] = "where" in query ? [{ id: 1 }] : [{ id: 2, content: { raw: "/files/2025/light.jpg" } }, { id: 3, content: { raw: "lighthouse" } }];
        return { items, total: null, pages: null, next: null, more: "search" in query };
      },
    } as unknown as Adapter;
    const description = { resources: [library, essays, closed] } as unknown as Description;
    const { uses, more } = await usesOf({ adapter, description, schemas: {} as Schemas }, library, file, new AbortController().signal);
    expect(uses.map(({ resource: of, id, field }) => [of.name, id, field])).toEqual([["essays", 1, "cover"], ["essays", 2, null]]);
    expect(more).toBe(true);
    expect(asked).toHaveLength(7);
  });
});
