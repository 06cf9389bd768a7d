import fc from "fast-check";
import { expect, it } from "vitest";
import { differences, sides, type Piece } from "../../src/model/diff";

const text = (pieces: Piece[], without: Piece["kind"]): string => pieces.filter((piece) => piece.kind !== without).map((piece) => piece.text).join("");

it("says which words differ", () => {
  expect(differences("The old lamp burns.", "The new lamp burns well.")).toEqual([
    { kind: "same", text: "The " },
    { kind: "removed", text: "old" },
    { kind: "added", text: "new" },
    { kind: "same", text: " lamp burns" },
    { kind: "added", text: " well" },
    { kind: "same", text: "." },
  ]);
});

it("words of any script are whole", () => {
  expect(differences("schöne Füße", "schöne Hände")).toEqual([
    { kind: "same", text: "schöne " },
    { kind: "removed", text: "Füße" },
    { kind: "added", text: "Hände" },
  ]);
});

it("both texts are in the pieces, and equal texts are one", () => {
  const words = fc.array(fc.constantFrom("a", "b", "c", " ", "\n", "ä", "<p>"), { maxLength: 40 }).map((list) => list.join(""));
  fc.assert(
    fc.property(words, words, (before, after) => {
      const pieces = differences(before, after);
      expect(text(pieces, "added")).toBe(before);
      expect(text(pieces, "removed")).toBe(after);
      expect(pieces.every((piece) => piece.text !== "")).toBe(true);
      if (before === after) {
        expect(pieces.every((piece) => piece.kind === "same")).toBe(true);
      }
    }),
  );
});

it("the edits are as few as possible", () => {
  const letters = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });
  fc.assert(
    fc.property(letters, letters, (before, after) => {
      const pieces = differences(before.join(" "), after.join(" "));
      const edits = pieces.filter((piece) => piece.kind !== "same").reduce((sum, piece) => sum + piece.text.length, 0);
      expect(edits).toBe(distance([...before.join(" ")], [...after.join(" ")]));
    }),
  );
});

/** Insertions and deletions that lead from one list to the other, by the textbook. */
function distance(a: string[], b: string[]): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : i)));
  const at = (i: number, j: number): number => table[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      (table[i] ?? [])[j] = a[i - 1] === b[j - 1] ? at(i - 1, j - 1) : 1 + Math.min(at(i - 1, j), at(i, j - 1));
    }
  }
  return at(a.length, b.length);
}

it("texts that have nothing in common cost a bounded time", () => {
  const before = Array.from({ length: 30_000 }, (_, index) => `a${index}`).join(" ");
  const after = Array.from({ length: 30_000 }, (_, index) => `b${index}`).join(" ");
  const started = performance.now();
  const pieces = differences(before, after);
  expect(text(pieces, "added")).toBe(before);
  expect(text(pieces, "removed")).toBe(after);
  expect(performance.now() - started).toBeLessThan(5000);
});

it("two sides show the same words and their own", () => {
  const { before, after } = sides(differences("a b", "a c"));
  expect(before).toEqual([{ kind: "same", text: "a " }, { kind: "changed", text: "b" }]);
  expect(after).toEqual([{ kind: "same", text: "a " }, { kind: "changed", text: "c" }]);
});
