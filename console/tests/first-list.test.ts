import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { setApi, statesOf } from "../src/api";
import type { Description } from "../src/api/description";
import { createHttp } from "../src/api/http";
import { encodeQuery, type Query } from "../src/api/query";
import { assumedArgs, pageQuery } from "../src/model/list-query";
import { Pager } from "../src/model/pager";
import { initialView } from "../src/model/view-state";
import { BOOT, FakeServer } from "./fixtures/http";

const golden = <T,>(name: string): T => JSON.parse(readFileSync(join(import.meta.dirname, `../../fixtures/golden/${name}.json`), "utf8")) as T;

/** What the list screen asks first, before it knows any schema. */
async function asked(description: Description, name: string): Promise<Record<string, string>> {
  const { adapter } = setApi(createHttp(BOOT, new FakeServer(() => ({ body: [] }))), description);
  const resource = description.resources.find((one) => one.name === name);
  if (resource === undefined) throw new Error(`There is no ${name}.`);
  let seen: Query = {};
  const pager = new Pager(
    {
      list: (of, query) => {
        seen = query;
        return adapter.list(of, query);
      },
    },
    resource,
  );
  const view = initialView(resource);
  await pager.page(pageQuery(view, { resource, states: statesOf(resource), args: assumedArgs(resource), schema: { properties: {} } }), view.page);
  return Object.fromEntries(new URLSearchParams(encodeQuery(seen)));
}

describe.each(["cms", "wp"])("the first request of lists under the prefix %s", (prefix) => {
  const description = golden<Description>(`console.${prefix}`);
  const expected = golden<Record<string, { path: string; query: Record<string, string> }>>(`first-lists.${prefix}`);

  it.each(Object.entries(expected))("is the one whose answer the page brings: %s", async (name, first) => {
    expect(first.path).toBe(description.resources.find((one) => one.name === name)?.operations["list"]?.path);
    expect(await asked(description, name)).toEqual(first.query);
  });

  it("is brought for most lists", () => {
    expect(Object.keys(expected).length).toBeGreaterThan(description.resources.length / 3);
  });
});
