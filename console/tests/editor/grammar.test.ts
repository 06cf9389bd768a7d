// @vitest-environment node
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Block, type Piece, delimited, parse, readJson, textOf, writeJson } from "../../src/editor/grammar";

/** Pieces of delimiters, whole and broken. */
const PARTS = [
  "<!-- wp:paragraph -->",
  "<!-- /wp:paragraph -->",
  "<!-- wp:group {\"a\":{\"b\":1}} -->",
  "<!-- /wp:group -->",
  "<!-- cms:x/y /-->",
  "<!-- wp:block {\"ref\":1} /-->",
  "<!--",
  "-->",
  "<!-- wp:",
  "<!-- wp:a {",
  "} ",
  " /",
  "<!-- /wp:",
  "{\"a\":\"-->\"}",
  "<!-- wp:Upper -->",
  "<!-->",
  "text",
  "\n\n",
  "<p>",
  "\u{1f600}",
];

const texts = fc.oneof(fc.array(fc.constantFrom(...PARTS)).map((parts) => parts.join("")), fc.string({ unit: "binary" }));

const names = fc.constantFrom("core/paragraph", "core/group", "my/own-block", "core/list-item");
const values = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });

interface Tree {
  name: string;
  json: string | null;
  inside: (string | Tree)[] | null;
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    name: names,
    json: values.map((value) => writeJson(value as Record<string, unknown>)),
    inside: fc.option(fc.array(fc.oneof({ depthSize: "small" }, fc.constantFrom("<p>a</p>", "\n", "b < c"), tie("tree")), { maxLength: 4 })),
  }),
}));

function write(node: string | Tree): string {
  return typeof node === "string" ? node : delimited(node.name, node.json, node.inside?.map(write).join("") ?? null);
}

function plain(piece: Piece): unknown {
  return typeof piece === "string" ? piece : { name: piece.name, json: piece.json, inside: piece.single ? null : piece.inside.map(plain) };
}

/** Neighbouring texts are one text. */
function merged(nodes: (string | Tree)[]): unknown[] {
  const out: unknown[] = [];
  for (const node of nodes) {
    const last = out[out.length - 1];
    if (typeof node === "string" && typeof last === "string") out[out.length - 1] = last + node;
    else out.push(typeof node === "string" ? node : { ...node, inside: node.inside === null ? null : merged(node.inside) });
  }
  return out;
}

describe("grammar", () => {
  it("loses nothing of any text", () => {
    fc.assert(fc.property(texts, (text) => parse(text).map(textOf).join("") === text), { numRuns: 1000 });
  });

  it("reads the tree that was written", () => {
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 3 }), (trees) => {
        expect(parse(trees.map(write).join("")).map(plain)).toEqual(merged(trees));
      }),
    );
  });

  it("reads attributes as they were written", () => {
    fc.assert(
      fc.property(values, (value) => {
        const json = writeJson(value as Record<string, unknown>);
        if (json === null) return;
        expect(json).not.toMatch(/--|[<>]/);
        expect(readJson(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  /** Cases of the server's parser: each with the names of the blocks and the texts in them. */
  const rows: [string, unknown[]][] = [
    ["a<!-- wp:group {\"x\":1} --><div><!-- cms:foo/bar /--></div><!-- /wp:group -->b", ["a", ["core/group", "<div>", ["foo/bar"], "</div>"], "b"]],
    ["<!-- wp:paragraph --><p>unclosed</p>", [["core/paragraph", "<p>unclosed</p>"]]],
    ["<p>a</p><!-- /wp:paragraph -->", ["<p>a</p><!-- /wp:paragraph -->"]],
    ["<!-- wp:paragraph {\"bad json} --><p>x</p><!-- /wp:paragraph -->", [["core/paragraph", "<p>x</p>"]]],
    ["<!-- wp:Paragraph --><p>x</p>", ["<!-- wp:Paragraph --><p>x</p>"]],
    ["<!-- wp:group --><div><!-- wp:paragraph --><p>x</p><!-- /wp:group -->", [["core/group", "<div>", ["core/paragraph", "<p>x</p>"]]]],
    ["text <!-- wp:x", ["text <!-- wp:x"]],
    ["<!--wp:x-->", ["<!--wp:x-->"]],
    ["<!-- wp:a/b/c -->", ["<!-- wp:a/b/c -->"]],
    ["<!-- wp:x {} --><!-- /wp:x -->", [["core/x"]]],
    ["<!-- wp:x {\"a\":1}--><!-- /wp:x -->", ["<!-- wp:x {\"a\":1}--><!-- /wp:x -->"]],
  ];
  const shape = (piece: Piece): unknown => (typeof piece === "string" ? piece : [(piece as Block).name, ...piece.inside.map(shape)]);
  it.each(rows)("reads %s", (text, expected) => {
    expect(parse(text).map(shape)).toEqual(expected);
  });

  it("keeps to the depth of the server", () => {
    const text = `${"<!-- wp:group -->".repeat(5000)}x${"<!-- /wp:group -->".repeat(5000)}`;
    expect(parse(text).map(textOf).join("")).toBe(text);
    let depth = 0;
    for (let piece = parse(text)[0]; piece !== undefined && typeof piece !== "string"; piece = piece.inside[0]) depth++;
    expect(depth).toBe(64);
  });

  it.each([
    ["openings without an end", "<!-- wp:a {"],
    ["openings", "<!--"],
    ["names", `<!-- wp:${"a".repeat(50)}`],
    ["openings before much white space", `<!-- wp:a {${" ".repeat(10)}`],
    ["delimiters", "<!-- wp:a -->"],
    ["closings", "<!-- /wp:a -->"],
  ])("takes time in proportion to the length: %s", (_, part) => {
    const size = 1_000_000;
    const text = `${part.repeat(size / part.length)}${" ".repeat(size)}-->`;
    const start = performance.now();
    expect(parse(text).map(textOf).join("")).toBe(text);
    // A search whose time grows with the square of the length takes minutes here.
    expect(performance.now() - start).toBeLessThan(3000);
  });
});
