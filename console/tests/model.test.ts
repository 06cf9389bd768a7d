import { describe, expect, it } from "vitest";
import { branches, matching, partsOf } from "../src/model/declarations";
import { dateText, momentOf, relativeText, toWall } from "../src/model/moments";
import { inert, labelOf, plainText, stripHtml, titleOf, valueAt } from "../src/model/record";
import { dropChanges, type Node, stepChanges, treeOf } from "../src/model/tree";
import { matchPath } from "../src/router";
import { resourceOf } from "./fixtures/api";

const pages = resourceOf("pages");

describe("records", () => {
  it("are called by their title, as text", () => {
    expect(titleOf(resourceOf("posts"), { title: { raw: "<b>A</b> &amp; B", rendered: "x" } })).toBe("A & B");
    expect(labelOf(pages, { id: 7, title: { raw: "" } }, (id) => `#${id}`)).toBe("#7");
  });

  it("give nested values", () => {
    expect(valueAt({ a: { b: 1 } }, "a.b")).toBe(1);
    expect(valueAt({ a: null }, "a.b")).toBeUndefined();
    expect(plainText(["a", null, 2])).toBe("a, 2");
  });

  it("parses no handler and no style under its own name, and leaves texts alone", () => {
    const cases: [string, string][] = [
      ['<img src=x onerror="a" onload=b>', '<img src=x data-onerror="a" data-onload=b>'],
      ["<svg/onload=a><p title='>' style = 'x'>", "<svg/data-onload=a><p title='>' data-style = 'x'>"],
      ['<a href="b"onclick=c', '<a href="b"data-onclick=c'],
      ["once on = two, style = three", "once on = two, style = three"],
      ["<style>p { color: red }</style>a < b", "a < b"],
    ];
    for (const [html, expected] of cases) expect(inert(html)).toBe(expected);
    const before = performance.now();
    inert(`<a '"`.repeat(20_000));
    expect(performance.now() - before).toBeLessThan(1000);
  });

  it("show hostile markup as text alone", () => {
    expect(stripHtml('<img src=x onerror="alert(1)">Hi<script>alert(2)</script>')).toBe("Hi");
  });
});

describe("times", () => {
  const berlin = "Europe/Berlin";

  it("without a zone are those of the site's clock", () => {
    expect(momentOf("2026-07-01T12:00:00", "date", berlin)?.toISOString()).toBe("2026-07-01T10:00:00.000Z");
    expect(momentOf("2026-01-01T12:00:00", "date", berlin)?.toISOString()).toBe("2026-01-01T11:00:00.000Z");
    expect(momentOf("2026-01-01T12:00:00", "date", "+05:30")?.toISOString()).toBe("2026-01-01T06:30:00.000Z");
  });

  it("of UTC stay so", () => {
    expect(momentOf("2026-07-01T12:00:00", "date_gmt", berlin)?.toISOString()).toBe("2026-07-01T12:00:00.000Z");
    expect(momentOf("2026-07-01T12:00:00+02:00", "date", "UTC")?.toISOString()).toBe("2026-07-01T10:00:00.000Z");
    expect(momentOf("soon", "date", berlin)).toBeNull();
  });

  it("go to the site's clock and back around a change of the clocks", () => {
    for (const wall of ["2026-03-29T01:59:59", "2026-03-29T03:00:00", "2026-10-25T03:00:00"]) {
      const moment = momentOf(wall, "date", berlin);
      expect(moment === null ? "" : toWall(moment, berlin)).toBe(wall);
    }
  });

  it("are told to people", () => {
    const moment = new Date("2026-07-01T10:00:00Z");
    expect(dateText(moment, berlin, "en", "date")).toBe("Jul 1, 2026");
    expect(relativeText(moment, new Date("2026-07-04T10:00:00Z"), "en")).toBe("3 days ago");
    expect(relativeText(moment, new Date("2026-07-01T08:00:00Z"), "de")).toBe("in 2 Stunden");
  });
});

describe("trees", () => {
  const item = (id: number, parent: number, menu_order: number): Record<string, number> => ({ id, parent, menu_order });
  const all = (nodes: Node[]): Node[] => nodes.flatMap((node) => [node, ...all(node.children)]);
  const roots = treeOf(pages, [item(1, 0, 0), item(2, 0, 1), item(3, 1, 0), item(4, 1, 1), item(5, 99, 2)], "menu_order");

  it("have those at the top whose parent is not there", () => {
    expect(all(roots).map((node) => [node.id, node.level])).toEqual([[1, 0], [3, 1], [4, 1], [2, 0], [5, 0]]);
  });

  it("show all records of a circle", () => {
    const circle = treeOf(pages, [item(1, 2, 0), item(2, 1, 0)], null);
    expect(all(circle).map((node) => node.id).sort()).toEqual([1, 2]);
  });

  it("move by steps, and write only what changes", () => {
    expect(stepChanges(roots, 4, "up", "menu_order")).toEqual([
      { id: 4, values: { menu_order: 0 } },
      { id: 3, values: { menu_order: 1 } },
    ]);
    expect(stepChanges(roots, 2, "in", "menu_order")).toEqual([{ id: 2, values: { parent: 1, menu_order: 2 } }]);
    expect(stepChanges(roots, 3, "out", null)).toEqual([{ id: 3, values: { parent: 0 } }]);
    expect(stepChanges(roots, 1, "up", "menu_order")).toEqual([]);
    expect(stepChanges(roots, 1, "out", "menu_order")).toEqual([]);
  });

  it("keep the order of branches that are not read to their end", () => {
    const complete = (above: string): boolean => above !== "1";
    expect(stepChanges(roots, 4, "up", "menu_order", complete)).toEqual([]);
    expect(stepChanges(roots, 2, "in", "menu_order", complete)).toEqual([]);
    expect(stepChanges(roots, 2, "in", null, complete)).toEqual([{ id: 2, values: { parent: 1 } }]);
    expect(stepChanges(roots, 3, "out", "menu_order", complete)).not.toEqual([]);
  });

  it("take drops, but not into what is below", () => {
    expect(dropChanges(roots, 3, 2, "inside", "menu_order")).toEqual([{ id: 3, values: { parent: 2 } }]);
    expect(dropChanges(roots, 1, 3, "inside", "menu_order")).toEqual([]);
    expect(dropChanges(roots, 2, 1, "before", "menu_order")).toEqual([
      { id: 2, values: { menu_order: 0 } },
      { id: 1, values: { menu_order: 1 } },
    ]);
  });
});

describe("declarations", () => {
  it("are a tree by the dots of their names", () => {
    const all = [
      { name: "resources.x", file: "routes.toml", line: 1 },
      { name: "resources.x.labels", file: "site.toml", line: 2 },
    ];
    expect(branches(all)).toMatchObject([{ name: "resources", declaration: null, children: [{ name: "x", declaration: all[0], children: [{ name: "labels" }] }] }]);
    expect(matching(all, "site")).toEqual([all[1]]);
    expect(partsOf('blocks."core/a.b".x')).toEqual(["blocks", '"core/a.b"', "x"]);
  });
});

describe("addresses", () => {
  it("fit patterns part by part", () => {
    expect(matchPath("/r/:resource/:id", "/r/a/b%20c")).toEqual({ resource: "a", id: "b c" });
    expect(matchPath("/r/:resource", "/r/a/b")).toBeNull();
    expect(matchPath("/", "/")).toEqual({});
    expect(matchPath("/r/:resource", "/r/%E0")).toBeNull();
  });
});
