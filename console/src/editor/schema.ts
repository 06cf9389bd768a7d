/**
 * The schema of a document: the kinds of blocks (`blocks/`), inline nodes and marks.
 *
 * Attributes that every block node has: `slice` (number of the slice that it was read from), `style` (how it is written:
 * "block" with delimiters, "old" likewise
 * with an inside that has none, "html" as an element, "bare" as text; null for what its place asks for), `json` (attributes of its
 * delimiter as they are written) and `tag` (inside of its opening tag as it is written; null for what the block has by default).
 */
import { type Attrs, type MarkSpec, type Node, type NodeSpec, type NodeType, Schema } from "prosemirror-model";
import { attribute, insideOf } from "./html";
import type { Kinds } from "./kind";
import { looks, safeAddress, shownPicture } from "./looks";

/** Attributes of every block node. */
export const common = { slice: { default: null }, style: { default: null }, json: { default: null }, tag: { default: null } };

export type Style = "block" | "old" | "html" | "bare";

/** Attributes of block nodes, as the rest of the editor reads them. */
export interface BlockAttrs extends Attrs {
  slice: number | null;
  style: Style | null;
  json: string | null;
  tag: string | null;
}

export function attrsOf(node: Node): BlockAttrs {
  return node.attrs as unknown as BlockAttrs;
}

/** `lead` and `trail` are the white space around all blocks; `classic` content has no delimiters and gets none. */
const doc: NodeSpec = { content: "block+", attrs: { classic: { default: false }, lead: { default: "" }, trail: { default: "" } } };

const inline: Record<string, NodeSpec> = {
  text: { group: "inline" },
  hard_break: {
    inline: true,
    group: "inline",
    selectable: false,
    linebreakReplacement: true,
    attrs: { raw: { default: null } },
    parseDOM: [{ tag: "br" }],
    toDOM: () => ["br"],
  },
  /** White space with a line end that pages show as one space. */
  newline: {
    inline: true,
    group: "inline",
    selectable: false,
    attrs: { raw: { default: "\n" } },
    toDOM: () => ["span", { "data-kind": "newline" }, " "],
    leafText: () => " ",
  },
  inline_image: {
    inline: true,
    group: "inline",
    draggable: true,
    attrs: { raw: { default: "<img>" } },
    toDOM: (node) => {
      const image = insideOf(node.attrs["raw"] as string);
      return ["img", { src: shownPicture(attribute(image, "src")), alt: attribute(image, "alt") ?? "", ...looks(image) }];
    },
  },
  /** Inline markup that the editor does not know: one object that shows its source. */
  inline_raw: {
    inline: true,
    group: "inline",
    draggable: true,
    attrs: { raw: { default: "" } },
    toDOM: (node) => ["span", { "data-kind": "inline-raw", title: node.attrs["raw"] as string }, brief(node.attrs["raw"] as string)],
  },
};

function brief(source: string): string {
  return source.length > 40 ? `${source.slice(0, 39)}…` : source;
}

/** `open`: the opening tag as it is written; `depth`: its place in the nesting; `turn` tells neighbours with equal tags apart. */
const written = { open: { default: null }, depth: { default: null }, turn: { default: 0 } };

function format(tags: string[], shown: string): MarkSpec {
  return { attrs: written, parseDOM: tags.map((tag) => ({ tag })), toDOM: () => [shown, 0] };
}

const marks: Record<string, MarkSpec> = {
  link: {
    attrs: { ...written, href: { default: "" } },
    inclusive: false,
    parseDOM: [{ tag: "a[href]", getAttrs: (dom) => ({ href: safeAddress((dom as HTMLElement).getAttribute("href")) ?? "" }) }],
    toDOM: (mark) => ["a", { href: safeAddress(mark.attrs["href"] as string) ?? "#", rel: "noopener noreferrer nofollow" }, 0],
  },
  strong: format(["strong", "b"], "strong"),
  em: format(["em", "i"], "em"),
  strike: format(["s", "del", "strike"], "s"),
  underline: format(["u", "ins"], "u"),
  sub: format(["sub"], "sub"),
  sup: format(["sup"], "sup"),
  code_text: format(["code"], "code"),
  keyboard: format(["kbd"], "kbd"),
  highlight: { ...format(["mark"], "mark"), toDOM: (mark) => ["mark", looks(insideOf((mark.attrs["open"] as string | null) ?? "<mark>")), 0] },
  /** Another inline element; several may be around the same text. */
  element: {
    attrs: { ...written, name: { default: "span" } },
    excludes: "",
    toDOM: (mark) => ["span", { "data-element": mark.attrs["name"] as string, ...looks(insideOf((mark.attrs["open"] as string | null) ?? "<span>")) }, 0],
  },
  /** A character that is written as a reference, or one that usually is and here is not. */
  reference: { attrs: { raw: {} }, inclusive: false, excludes: "reference", toDOM: () => ["span", 0] },
};

/** Set by `blocks/index.ts`. Modules that blocks use may use it in functions alone; others import it from there. */
export let schema: Schema;

/** Makes the schema of kinds, of which the first is what is there where nothing else is said. */
export function makeSchema(kinds: Kinds): void {
  const blocks = Object.entries(kinds).map(([name, kind]) => [name, { ...kind.spec, kind }]);
  schema = new Schema({ nodes: { doc, ...Object.fromEntries(blocks), ...inline } as Record<string, NodeSpec>, marks });
}

export function typeOf(name: string): NodeType {
  return schema.nodes[name] as NodeType;
}

/** The mark that an inline element becomes, by its name. */
export const FORMATS: Record<string, string> = {
  a: "link",
  strong: "strong",
  b: "strong",
  em: "em",
  i: "em",
  s: "strike",
  del: "strike",
  strike: "strike",
  u: "underline",
  ins: "underline",
  sub: "sub",
  sup: "sup",
  code: "code_text",
  kbd: "keyboard",
  mark: "highlight",
};

for (const name of "span abbr acronym cite q small big tt dfn var samp time bdo bdi font label data".split(" ")) FORMATS[name] = "element";

/** The element that a mark is written as when nothing says otherwise. */
export const ELEMENTS: Record<string, string> = {
  link: "a",
  strong: "strong",
  em: "em",
  strike: "s",
  underline: "u",
  sub: "sub",
  sup: "sup",
  code_text: "code",
  keyboard: "kbd",
  highlight: "mark",
  element: "span",
};
