import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changesOf, placed, rowsOf, stepped, type Step, type TreeNode, type Where } from "../../src/related/tree";

/** Written as rows: two spaces for each level. */
function tree(text: string): TreeNode[] {
  const above: string[] = [];
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line, index) => {
      const level = line.search(/\S/) / 2;
      const id = line.trim();
      above[level] = id;
      return { id, parent: level === 0 ? null : (above[level - 1] ?? null), position: index + 1 };
    });
}

function written(nodes: readonly TreeNode[] | null): string {
  return nodes === null ? "none" : rowsOf(nodes).map((row) => `${"  ".repeat(row.level)}${row.id}`).join("\n");
}

const menu = tree("a\nb\n  b1\n  b2\n    b21\nc\n");

describe("rows", () => {
  it("are the tree from top to bottom", () => {
    expect(written(menu)).toBe("a\nb\n  b1\n  b2\n    b21\nc");
    expect(rowsOf(menu)[2]).toEqual({ id: "b1", level: 1, parent: "b", place: 0, beside: 2, children: 0 });
  });

  it("show records whose parent is gone at the top, and those in a circle", () => {
    expect(written([{ id: 1, parent: 99, position: 1 }])).toBe("1");
    const circle = [{ id: 1, parent: 2, position: 1 }, { id: 2, parent: 1, position: 2 }, { id: 3, parent: null, position: 3 }];
    expect(rowsOf(circle).map((row) => row.id).sort()).toEqual([1, 2, 3]);
    expect(rowsOf([{ id: 1, parent: 1, position: 1 }])).toHaveLength(1);
  });

  it("take numbers and texts for the same id", () => {
    expect(written([{ id: 5, parent: null, position: 1 }, { id: 6, parent: "5", position: 2 }])).toBe("5\n  6");
  });
});

describe("a step", () => {
  it.each<[string, Step, string]>([
    ["c", "up", "a\nc\nb\n  b1\n  b2\n    b21"],
    ["a", "down", "b\n  b1\n  b2\n    b21\na\nc"],
    ["c", "in", "a\nb\n  b1\n  b2\n    b21\n  c"],
    ["b1", "out", "a\nb\n  b2\n    b21\nb1\nc"],
    ["b2", "up", "a\nb\n  b2\n    b21\n  b1\nc"],
    ["b", "in", "a\n  b\n    b1\n    b2\n      b21\nc"],
  ])("of %s %s", (id, step, expected) => {
    expect(written(stepped(menu, id, step))).toBe(expected);
  });

  it.each<[string, Step]>([["a", "up"], ["a", "in"], ["a", "out"], ["c", "down"], ["b1", "up"], ["gone", "up"]])("of %s %s leads nowhere", (id, step) => {
    expect(stepped(menu, id, step)).toBeNull();
  });
});

describe("dropping", () => {
  it("puts a record with all below it before, after or inside another", () => {
    expect(written(placed(menu, "b", "a", "before"))).toBe("b\n  b1\n  b2\n    b21\na\nc");
    expect(written(placed(menu, "a", "b1", "after"))).toBe("b\n  b1\n  a\n  b2\n    b21\nc");
    expect(written(placed(menu, "c", "b2", "inside"))).toBe("a\nb\n  b1\n  b2\n    b21\n    c");
  });

  it("never puts a record below itself", () => {
    expect(placed(menu, "b", "b21", "inside")).toBeNull();
    expect(placed(menu, "b", "b1", "before")).toBeNull();
    expect(placed(menu, "b", "b", "after")).toBeNull();
  });
});

describe("what is saved", () => {
  it("is what differs", () => {
    const after = stepped(menu, "c", "in") ?? [];
    expect(changesOf(menu, after)).toEqual([{ id: "c", parent: "b", position: 6, changed: { parent: true, position: false } }]);
    expect(changesOf(menu, stepped(menu, "a", "down") ?? []).map((change) => change.id)).toEqual(["a", "b", "b1", "b2", "b21"]);
    expect(changesOf(menu, menu)).toEqual([]);
  });
});

describe("whatever is moved", () => {
  const nodes = fc.integer({ min: 1, max: 14 }).chain((count) =>
    fc.tuple(...Array.from({ length: count }, (_, index) => fc.option(fc.integer({ min: 0, max: Math.max(0, index - 1) }), { nil: null }))).map((parents) =>
      parents.map((parent, index): TreeNode => ({ id: index, parent: index === 0 ? null : parent, position: index + 1 })),
    ),
  );
  const moves = fc.array(fc.record({ id: fc.nat(13), target: fc.nat(13), where: fc.constantFrom<Where>("before", "inside", "after"), step: fc.option(fc.constantFrom<Step>("up", "down", "in", "out")) }), { maxLength: 12 });

  it("no record is lost, none is above itself, and positions are those of the rows", () => {
    fc.assert(
      fc.property(nodes, moves, (start, all) => {
        let now: TreeNode[] = start;
        for (const { id, target, where, step } of all) {
          const next = step === null ? placed(now, id, target, where) : stepped(now, id, step);
          if (next === null) continue;
          now = next;
          const rows = rowsOf(now);
          expect(rows.map((row) => row.id).sort((a, b) => Number(a) - Number(b))).toEqual(start.map((node) => node.id));
          rows.forEach((row, index) => expect(now.find((node) => node.id === row.id)?.position).toBe(index + 1));
          for (const node of now) {
            const seen = new Set<unknown>();
            for (let at: TreeNode | undefined = node; at !== undefined; at = now.find((one) => one.id === at?.parent)) {
              expect(seen.has(at.id)).toBe(false);
              seen.add(at.id);
            }
          }
        }
      }),
    );
  });

  it("a step back leads back", () => {
    fc.assert(
      fc.property(nodes, fc.nat(13), (start, id) => {
        const down = stepped(start, id, "down");
        if (down !== null) expect(written(stepped(down, id, "up"))).toBe(written(start));
      }),
    );
  });
});
