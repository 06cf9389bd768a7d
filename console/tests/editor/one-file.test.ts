// A block of the editor is one file: nothing else names it.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { schema } from "../../src/editor/blocks";

const EDITOR = join(import.meta.dirname, "../../src/editor");
const BLOCKS = join(EDITOR, "blocks");

/** Kinds that may be named elsewhere, and why. */
const KNOWN = new Map([
  ["paragraph", "what a text is where nothing else is said"],
  ["verbatim", "what is not known"],
  ["caption", "a part of galleries and tables"],
]);
/** Names that are words of something else, too: a mark, an icon, an element of HTML. */
const WORDS: Record<string, string[]> = {
  "Editor.tsx": ["list"],
  "Panel.tsx": ["group"],
  "Toolbar.tsx": ["code", "button"],
  "clean.ts": ["code", "table"],
  "framed.tsx": ["embed"],
  "inline.ts": ["code", "raw"],
  "inputs.tsx": ["list"],
  "schema.ts": ["code", "raw"],
  "uploads.ts": ["button"],
  "write.ts": ["code"],
};

const sources = (folder: string) => readdirSync(folder).filter((name) => /\.tsx?$/.test(name));
const kinds = Object.values(schema.nodes).filter((type) => type.spec["kind"] !== undefined).map(({ name }) => name);
/** The kinds that a source names in strings, without its comments and imports. */
const named = (text: string) => kinds.filter((kind) => new RegExp(`["'\`](?:core/)?${kind}["'\`]`).test(text.replace(/^import .*$|^ *(?:\/\*\*|\*|\/\/).*$/gm, "")));

describe("a block", () => {
  it("is named in its file alone", () => {
    const found = sources(EDITOR).flatMap((file) => {
      const text = readFileSync(join(EDITOR, file), "utf8");
      return named(text).filter((kind) => !KNOWN.has(kind) && WORDS[file]?.includes(kind) !== true).map((kind) => `${file}: ${kind}`);
    });
    expect(found).toEqual([]);
  });

  it("is known by its file: every kind of a file is declared there", () => {
    const text = sources(BLOCKS).filter((file) => file !== "index.ts").map((file) => readFileSync(join(BLOCKS, file), "utf8"));
    expect(kinds.length).toBeGreaterThan(30);
    for (const kind of kinds) expect(text.filter((one) => new RegExp(`^  ${kind}: (?:\\{|cell)`, "m").test(one))).toHaveLength(1);
  });
});
