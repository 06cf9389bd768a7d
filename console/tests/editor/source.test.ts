import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applied, shown } from "../../src/editor/source";

const texts = fc.string({ unit: fc.constantFrom("a", "b", "\r\n", "\n", "\r", " ") });

describe("source", () => {
  it("leaves a text alone that nobody changed", () => {
    fc.assert(fc.property(texts, (text) => applied(text, shown(text)) === text));
  });

  it("shows what was typed", () => {
    fc.assert(fc.property(texts, texts.map(shown), (before, after) => shown(applied(before, after)) === after));
  });

  it("keeps the line ends of lines that nobody touched", () => {
    expect(applied("a\r\nb\r\nc", "a\nx\nc")).toBe("a\r\nx\r\nc");
    expect(applied("a\nb\r\nc", "a\nb\nc\nd")).toBe("a\nb\r\nc\r\nd");
  });
});
