import { describe, expect, it } from "vitest";
import { everyState, readBatch, withEmptyTexts, type BatchResult } from "../src/api/adapter";
import { encodeQuery, fillPath, linkParameter } from "../src/api/query";
import { versionOf } from "../src/api/changes";
import { fakeApi, resourceOf } from "./fixtures/api";
import { failure } from "./fixtures/http";

const posts = resourceOf("posts");
const media = resourceOf("media");
const OPTIONS = { body: { endpoints: [{ methods: ["GET"], args: { status: { type: "array" } } }] } };

describe("queries", () => {
  it("write lists with commas, objects with brackets, and leave out what is absent", () => {
    expect(encodeQuery({ include: [1, 2], where: { start: { ge: "now" } }, search: "a b&c", page: undefined, none: null })).toBe(
      "include=1,2&where[start][ge]=now&search=a%20b%26c",
    );
  });

  it("write a list whose texts have commas item by item", () => {
    expect(encodeQuery({ names: ["a,b", "c"] })).toBe("names[]=a,b&names[]=c");
  });

  it("fill paths, with names of two segments", () => {
    expect(fillPath("/x/{name}/{id}", { name: "core/paragraph", id: 7 })).toBe("/x/core/paragraph/7");
    expect(() => fillPath("/x/{id}", {})).toThrow();
  });

  it("find the cursor of the next page", () => {
    const link = '<http://h/posts?per_page=2&_cursor=abc%3D>; rel="next", <http://h/>; rel="https://api.w.org/"';
    expect(linkParameter(link, "next", "_cursor")).toBe("abc=");
    expect(linkParameter(link, "prev", "_cursor")).toBeNull();
  });
});

describe("the adapter", () => {
  it("lists a page with its total and its next cursor", async () => {
    const { api } = fakeApi(() => ({
      body: [{ id: 1 }, { id: 2 }],
      headers: { "X-CMS-Total": "41", "X-CMS-TotalPages": "21", Link: '<http://h/p?_cursor=c2>; rel="next"' },
    }));
    const page = await api.adapter.list(posts, { per_page: 2 });
    expect(page).toEqual({ items: [{ id: 1 }, { id: 2 }], total: 41, pages: 21, next: "c2", more: true });
  });

  it("looks up many by their ids, each once, in any state", async () => {
    const { api, server } = fakeApi((request) => (request.method === "OPTIONS" ? OPTIONS : { body: [{ id: 3 }] }));
    await api.adapter.many(posts, [3, 4, 3]);
    expect(server.seen.at(-1)?.address).toBe("/cms-json/cms/v2/posts?status=publish,future,draft,pending,private,trash&include=3,4&per_page=2");
  });

  it("sends If-Match, and gives the ETag of what came back", async () => {
    const { api, server } = fakeApi(() => ({ body: { id: 3 }, headers: { ETag: '"5-a"', Allow: "GET, POST" } }));
    const one = await api.adapter.update(posts, 3, { title: "x" }, { ifMatch: '"4-a"' });
    expect(server.seen[0]).toMatchObject({ method: "POST", address: "/cms-json/cms/v2/posts/3", headers: { "If-Match": '"4-a"' }, body: { title: "x" } });
    expect(one).toEqual({ item: { id: 3 }, etag: '"5-a"', allow: ["GET", "POST"] });
  });

  it("sends empty texts by themselves to WordPress", () => {
    const body = { title: { raw: "" }, content: { raw: "x" }, excerpt: { raw: "", rendered: "" }, slug: "", meta: {} };
    expect(withEmptyTexts(body)).toEqual({ ...body, title: "" });
  });

  it("tells lists that a resource has changed", async () => {
    const { api } = fakeApi(() => ({ body: { id: 3 } }));
    const before = versionOf(posts.name);
    await api.adapter.remove(posts, 3);
    expect(versionOf(posts.name)).toBe(before + 1);
  });

  it("changes many in batches of 25, and reports each failure with its id", async () => {
    const ids = Array.from({ length: 30 }, (_, n) => n + 1);
    const { api, server } = fakeApi((request) => {
      const { requests } = request.body as { requests: { path: string }[] };
      const responses = requests.map(({ path }) =>
        path.endsWith("/7") ? { status: 403, body: { code: "rest_cannot_edit", message: "No." } } : { status: 200, body: { id: 1 } },
      );
      return { status: 207, body: { responses } };
    });
    const steps: number[] = [];
    const result = await api.adapter.updateMany(posts, ids, { status: "draft" }, { onProgress: (done) => steps.push(done) });
    expect(server.seen.map((request) => (request.body as { requests: unknown[] }).requests.length)).toEqual([25, 5]);
    expect(server.seen[0]?.address).toBe("/cms-json/batch/v1");
    expect(steps).toEqual([25, 30]);
    expect(result.done).toHaveLength(29);
    expect(result.failed).toMatchObject([{ id: 7, failure: { status: 403, message: "No." } }]);
  });

  it("changes many one by one where the operation takes no part in batches", async () => {
    const { api, server } = fakeApi((request) => (request.address.includes("/2?") ? failure(403, "rest_cannot_delete") : { body: {} }));
    const result = await api.adapter.removeMany(media, [1, 2, 3], { query: { force: true } });
    expect(server.seen.map((request) => `${request.method} ${request.address}`)).toEqual([
      "DELETE /cms-json/cms/v2/media/1?force=true",
      "DELETE /cms-json/cms/v2/media/2?force=true",
      "DELETE /cms-json/cms/v2/media/3?force=true",
    ]);
    expect(result.failed.map((one) => one.id)).toEqual([2]);
  });

  it("refuses an operation that the caller does not have", () => {
    const { api } = fakeApi(() => ({}));
    expect(() => api.adapter.call(resourceOf("settings"), "delete", {})).toThrow();
  });
});

describe("a batch", () => {
  it("whose answer is cut short fails for what is missing", () => {
    const result: BatchResult = { done: [], failed: [] };
    readBatch([1, 2], { responses: [{ status: 200, body: { id: 1 } }] }, result);
    expect(result.done.map((one) => one.id)).toEqual([1]);
    expect(result.failed).toMatchObject([{ id: 2, failure: { status: 502 } }]);
  });
});

describe("every state", () => {
  it("is each name that the argument takes, or the word for all where it takes one", () => {
    expect(everyState(posts, { type: "array", items: { enum: ["publish", "draft", "any"] } })).toEqual(["publish", "draft"]);
    expect(everyState(resourceOf("comments"), { type: "string" })).toBe("all");
  });
});
