import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { statesOf } from "../src/api";
import type { Page } from "../src/api/adapter";
import { Failure } from "../src/api/failure";
import type { Query } from "../src/api/query";
import { directOperations, removal, restoring, settable, wholeOperations } from "../src/model/actions";
import { assumedArgs, type Context, filterOffers, pageQuery, selection } from "../src/model/list-query";
import { ALL, countsOf, requestName, restoredTo, stateValue, total } from "../src/model/list-states";
import { Pager, pagerOf } from "../src/model/pager";
import { waitingStates } from "../src/model/waiting";
import { type Filter, initialView, layoutsOf, type ListView, namedViews, readView, writeView } from "../src/model/view-state";
import { fakeApi, resourceOf } from "./fixtures/api";

const posts = resourceOf("posts");
const comments = resourceOf("comments");
const ARGS = {
  ...assumedArgs(posts),
  status: { type: "array", items: { enum: ["publish", "future", "draft", "pending", "private", "trash", "any"] } },
  orderby: { enum: ["date", "title", "relevance"] },
  sticky: { type: "boolean" },
  format: { type: "array", items: { enum: ["aside", "quote"] } },
};
const SCHEMA = { properties: { title: { context: ["view", "edit"] }, password: { context: ["edit"] } } };
const context = (): Context => ({ resource: posts, args: ARGS, states: statesOf(posts), schema: SCHEMA });

beforeAll(() => void fakeApi(() => ({})));

describe("the view of a list and its address", () => {
  const initial = initialView(posts);

  it("says nothing of what is as declared", () => {
    expect(writeView(initial, initial)).toBe("");
    expect(readView("", initial, posts)).toEqual(initial);
  });

  it("gives back what was written, whatever it was", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 12 });
    const filter = fc.record<Filter>({ field: fc.constantFrom("author", "arg:format"), operator: fc.constantFrom("in", "contains"), value: fc.array(text, { minLength: 1, maxLength: 3 }) });
    const view = fc.record<ListView>({
      layout: fc.constantFrom(...layoutsOf(posts)),
      state: fc.constantFrom(ALL, "draft", "trash"),
      search: text,
      filters: fc.array(filter, { maxLength: 3 }),
      sort: fc.record({ field: fc.constantFrom("title", "date"), direction: fc.constantFrom("asc" as const, "desc" as const) }),
      page: fc.integer({ min: 1, max: 5000 }),
      perPage: fc.integer({ min: 1, max: 100 }),
      fields: fc.uniqueArray(fc.constantFrom("status", "author", "meta.footnotes"), { minLength: 1 }),
    });
    const property = fc.property(view, (one) => {
      expect(readView(writeView(one, initial), initial, posts)).toEqual(one);
    });
    fc.assert(property);
  });

  it("ignores what makes no sense", () => {
    expect(readView("page=-1&per=1000&layout=circle&state=nowhere&f=x", initial, posts)).toEqual({ ...initial, filters: [] });
  });

  it("begins with views that are declared, with comparisons that the list takes", () => {
    const own = { title: "Mine", slug: "mine", view: { filters: [{ field: "author", operator: "isAny", value: [3] }, { field: "status", operator: "is", value: "draft" }] } };
    const declared = { ...posts, view: { ...posts.view, view_list: [...posts.view.view_list, own] } };
    const named = namedViews(declared, initial);
    expect(named.map((one) => [one.name, one.view.state, one.view.filters])).toEqual([["mine", "draft", [{ field: "author", operator: "in", value: ["3"] }]]]);
  });

  it("offers a tree for what is hierarchical, and begins with it where it is declared and nobody has chosen", () => {
    const categories = resourceOf("categories");
    expect(layoutsOf(categories)).toContain("tree");
    expect(layoutsOf(posts)).not.toContain("tree");
    const tree = { ...categories, view: { ...categories.view, default_view: { ...categories.view.default_view, type: "tree" } } };
    expect(initialView(tree).layout).toBe("tree");
    expect(initialView(tree, { layout: "table" }).layout).toBe("table");
  });
});

describe("the request of a list", () => {
  it("asks for the shown properties, in all states but the trash", () => {
    const query = pageQuery(initialView(posts), context());
    expect(query).toMatchObject({ status: ["publish", "future", "draft", "pending", "private"], orderby: "date", order: "desc", per_page: 20 });
    expect(query["context"]).toBeUndefined();
    expect(query["_fields"]).toEqual(["id", "title", "status", "author", "categories", "tags", "date", "link", "parent", "featured_media"]);
  });

  it("asks as an editor where a column is for editors alone", () => {
    expect(pageQuery({ ...initialView(posts), fields: ["password"] }, context())).toMatchObject({ context: "edit" });
  });

  it("takes filters as criteria and as arguments, and none that has no value yet", () => {
    const filters = [
      { field: "author", operator: "in", value: ["2", "3"] },
      { field: "date", operator: "ge", value: ["2026-01-01"] },
      { field: "date", operator: "lt", value: ["2027-01-01"] },
      { field: "slug", operator: "contains", value: [""] },
      { field: "arg:format", operator: "is", value: ["quote"] },
    ];
    expect(selection({ ...initialView(posts), filters, state: "draft", search: "x" }, context())).toEqual({
      status: "draft",
      search: "x",
      where: { author: { in: ["2", "3"] }, date: { ge: "2026-01-01", lt: "2027-01-01" } },
      format: ["quote"],
    });
  });

  it("puts the best matches first when nobody has chosen an order", () => {
    expect(pageQuery({ ...initialView(posts), sort: null, search: "x" }, context())).toMatchObject({ orderby: "relevance" });
  });

  it("offers properties with operators, and arguments whose values are known", () => {
    const offered = filterOffers(posts, ARGS).map((offer) => offer.field);
    expect(offered).toEqual(expect.arrayContaining(["date", "author", "categories", "arg:sticky", "arg:format"]));
    expect(offered).not.toEqual(expect.arrayContaining(["arg:ignore_sticky"]));
    expect(offered.filter((field) => field.endsWith("_exclude") || field.endsWith("status"))).toEqual([]);
  });
});

describe("pages", () => {
  const page = (next: string | null): Page => ({ items: [], total: null, pages: null, next, more: next !== null });

  it("go from cursor to cursor, and by number where none is known", async () => {
    const seen: Query[] = [];
    const pager = new Pager({ list: (_, query) => (seen.push(query), Promise.resolve(page(`c${seen.length + 1}`))) }, posts);
    const query = { per_page: 20, orderby: "date" };
    await pager.page(query, 1);
    await pager.page(query, 2);
    await pager.page(query, 40);
    await pager.page({ ...query, search: "x" }, 2);
    expect(seen.map(({ _cursor, page: number }) => _cursor ?? number)).toEqual(["", "c2", 40, 2]);
  });

  /** Rows 1 to `count` in pages by cursor, and the requests that were made. */
  const server = (count: number): { pager: Pager; seen: Query[] } => {
    const seen: Query[] = [];
    const list = (_: unknown, query: Query): Promise<Page> => {
      seen.push(query);
      const rows = Array.from({ length: count }, (_row, place) => place + 1);
      if (query["order"] === "desc") rows.reverse();
      const size = Number(query["per_page"]);
      const from = query["page"] === undefined ? Number(query["_cursor"]) : (Number(query["page"]) - 1) * size;
      const next = query["page"] === undefined && from + size < count ? String(from + size) : null;
      return Promise.resolve({ items: rows.slice(from, from + size).map((id) => ({ id })), total: null, pages: null, next, more: from + size < count });
    };
    return { pager: new Pager({ list }, posts), seen };
  };
  const ids = ({ items }: Page): unknown[] => items.map((item) => item["id"]);

  it("go from the last one back by cursor, with the same rows on each", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 9 }), async (count, size) => {
        const { pager, seen } = server(count);
        const query = { per_page: size, orderby: "date", order: "asc" };
        const last = Math.ceil(count / size);
        for (let number = last; number >= 1; number--) {
          const found = await pager.page(query, number, {}, count);
          const first = (number - 1) * size + 1;
          expect(ids(found)).toEqual(Array.from({ length: Math.min(size, count - first + 1) }, (_, place) => first + place));
          expect(found.more).toBe(number < last);
        }
        expect(seen.filter((request) => request["page"] !== undefined)).toEqual([]);
      }),
    );
  });

  it("go by number to the last one where the order cannot be turned, or nobody has counted", async () => {
    const { pager, seen } = server(100);
    await pager.page({ per_page: 20, orderby: "relevance" }, 5, {}, 100);
    await pager.page({ per_page: 20, orderby: "date", order: "asc" }, 5);
    await pager.page({ per_page: 20, orderby: "date", order: "asc" }, 3, {}, 100);
    expect(seen.map((request) => request["page"])).toEqual([5, 5, 3]);
  });

  it("are remembered for each list, and a few lists at a time", () => {
    const adapter = { list: () => Promise.resolve(page(null)) };
    const first = pagerOf(adapter, posts, {});
    expect(pagerOf(adapter, posts, {})).toBe(first);
    expect(pagerOf(adapter, posts, { parent: 1 })).not.toBe(first);
    for (let parent = 2; parent < 40; parent++) pagerOf(adapter, posts, { parent });
    expect(pagerOf(adapter, posts, {})).not.toBe(first);
  });

  it("go by number where the server knows no next row", async () => {
    const seen: Query[] = [];
    const refuse = new Failure(400, { code: "rest_invalid_param", data: { params: { _cursor: "This order knows no next row." } } });
    const list = (_: unknown, query: Query): Promise<Page> => {
      seen.push(query);
      return query["_cursor"] === undefined ? Promise.resolve(page(null)) : Promise.reject(refuse);
    };
    const pager = new Pager({ list }, posts);
    await pager.page({ per_page: 20, orderby: "relevance" }, 1);
    await pager.page({ per_page: 20, orderby: "relevance" }, 2);
    expect(seen.map(({ _cursor, page: number }) => _cursor ?? number ?? 1)).toEqual(["", 1, 2]);
  });

  it("are read as visitors see them by those who may not edit", async () => {
    const seen: Query[] = [];
    const list = (_: unknown, query: Query): Promise<Page> => {
      seen.push(query);
      return query["context"] === "edit" ? Promise.reject(new Failure(403, { code: "rest_forbidden_context" })) : Promise.resolve(page(null));
    };
    await new Pager({ list }, posts).page({ context: "edit", per_page: 20 }, 1);
    expect(seen).toHaveLength(2);
  });
});

describe("states", () => {
  it("are called in requests as they are declared", () => {
    expect(stateValue("hold", statesOf(comments), { status: { type: "string" } })).toBe("hold");
    expect(stateValue("approved", statesOf(comments), { status: { type: "string" } })).toBe("approve");
    expect(stateValue(ALL, statesOf(comments), { status: { type: "string" } })).toBe("all");
  });

  it("are counted by the names of records, and the trash is not among all", () => {
    const counts = countsOf([{ value: "publish", count: 4 }, { value: "Draft", count: 2 }, { value: "trash", count: 9 }], statesOf(posts));
    expect([...counts]).toEqual([["publish", 4], ["draft", 2], ["trash", 9]]);
    expect(total(counts, statesOf(posts))).toBe(6);
  });

  it("are spelled as the schema spells them", () => {
    const publish = statesOf(posts)[0];
    expect(publish === undefined ? "" : requestName(publish, { enum: ["Publish", "draft"] })).toBe("Publish");
    expect(publish === undefined ? "" : requestName(publish)).toBe("publish");
  });

  it("that wait are drafts, reviews and what is scheduled; of messages, what is held back", () => {
    expect(waitingStates(statesOf(posts)).map((state) => state.name)).toEqual(["future", "draft", "pending"]);
    expect(waitingStates(statesOf(comments)).map((state) => state.name)).toEqual(["hold"]);
  });

  it("take records out of the trash", () => {
    expect(restoredTo(statesOf(posts))).toBe("draft");
    expect(restoredTo(statesOf(comments))).toBe("untrash");
    expect(restoring(resourceOf("users"), [])).toBeNull();
  });
});

describe("actions", () => {
  it("move to the trash where there is one, and delete permanently from there", () => {
    expect(removal(posts, statesOf(posts), false)).toEqual({ kind: "trash", query: {} });
    expect(removal(posts, statesOf(posts), true)).toEqual({ kind: "delete", query: { force: true } });
    expect(removal(resourceOf("tags"), [], false)).toEqual({ kind: "delete", query: { force: true } });
    expect(removal(resourceOf("audit"), [], false)).toBeNull();
  });

  it("are operations that need nothing but the record", () => {
    const found = directOperations(resourceOf("media"), { process: { action: { required: true, enum: ["create-image-subsizes"] } } });
    expect(found).toMatchObject([{ name: "process", body: { action: "create-image-subsizes" } }]);
  });

  it("on a whole list are those that need nothing", () => {
    expect(wholeOperations(resourceOf("sessions"), {}).map((one) => one.name)).toEqual(["delete_all"]);
    expect(wholeOperations(resourceOf("users"), {})).toEqual([]);
  });

  it("set properties whose values are known", () => {
    const args = { format: { enum: ["aside"] }, sticky: { type: "boolean" }, author: { type: "integer" }, slug: { type: "string" } };
    expect(settable(posts, args).map(([name]) => name)).toEqual(["format", "sticky", "author"]);
  });
});
