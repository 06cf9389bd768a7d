/**
 * Kinds of nodes and marks of a document.
 *
 * Attributes that every block node has: `slice` (number of the slice that it was read from), `style` (how it is written:
 * "block" with delimiters, "old" likewise
 * with an inside that has none, "html" as an element, "bare" as text; null for what its place asks for), `json` (attributes of its
 * delimiter as they are written) and `tag` (inside of its opening tag as it is written; null for what the block has by default).
 */
import { type Attrs, type DOMOutputSpec, type MarkSpec, type Node, type NodeSpec, Schema } from "prosemirror-model";
import { attribute, insideOf } from "./html";
import { looks, safeAddress, shownPicture } from "./looks";

const common = { slice: { default: null }, style: { default: null }, json: { default: null }, tag: { default: null } };

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

function text(tag: string, more: Partial<NodeSpec> = {}, attrs: NodeSpec["attrs"] = {}): NodeSpec {
  return {
    content: "inline*",
    group: "block",
    defining: true,
    attrs: { ...common, ...attrs },
    parseDOM: [{ tag }],
    toDOM: (node) => [tag, looks(attrsOf(node).tag), 0],
    ...more,
  };
}

function box(kind: string, content: string, more: Partial<NodeSpec> = {}, attrs: NodeSpec["attrs"] = {}): NodeSpec {
  return {
    content,
    group: "block",
    defining: true,
    attrs: { ...common, ...attrs },
    toDOM: (node) => ["div", { "data-kind": kind, ...looks(attrsOf(node).tag) }, 0],
    ...more,
  };
}

/** One object without an inside that can be typed in. */
function object(kind: string, attrs: NodeSpec["attrs"] = {}): NodeSpec {
  return {
    group: "block",
    atom: true,
    selectable: true,
    draggable: true,
    attrs: { ...common, ...attrs },
    toDOM: () => ["div", { "data-kind": kind }],
  };
}

function picture(node: Node): DOMOutputSpec {
  const image = insideOf(node.attrs["img"] as string);
  return [
    "figure",
    { "data-kind": "image", ...looks(attrsOf(node).tag) },
    ["img", { src: shownPicture(attribute(image, "src")), alt: attribute(image, "alt") ?? "" }],
    ["figcaption", 0],
  ];
}

const cells = {
  content: "inline*",
  isolating: true,
  attrs: { ...common, colspan: { default: 1 }, rowspan: { default: 1 }, colwidth: { default: null } },
};

function cell(tag: string) {
  return (node: Node): DOMOutputSpec => [
    tag,
    { colspan: String(node.attrs["colspan"]), rowspan: String(node.attrs["rowspan"]), ...looks(attrsOf(node).tag) },
    0,
  ];
}

const framed = { before: { default: "" }, inner: { default: "" }, after: { default: "" } };

const nodes: Record<string, NodeSpec> = {
  /** `lead` and `trail` are the white space around all blocks; `classic` content has no delimiters and gets none. */
  doc: { content: "block+", attrs: { classic: { default: false }, lead: { default: "" }, trail: { default: "" } } },
  paragraph: text("p", { defining: false }),
  heading: text(
    "h2",
    {
      parseDOM: [1, 2, 3, 4, 5, 6].map((level) => ({ tag: `h${level}`, attrs: { level } })),
      toDOM: (node) => [`h${node.attrs["level"] as number}`, looks(attrsOf(node).tag), 0],
    },
    { level: { default: 2 } },
  ),
  list: box(
    "list",
    "list_item+",
    {
      toDOM: (node) => {
        const start = attribute(attrsOf(node).tag ?? "", "start");
        const shown = { ...looks(attrsOf(node).tag), ...(start !== null && /^-?\d{1,9}$/.test(start) ? { start } : {}) };
        return [node.attrs["ordered"] === true ? "ol" : "ul", shown, 0];
      },
      parseDOM: [{ tag: "ul" }, { tag: "ol", attrs: { ordered: true } }],
    },
    { ordered: { default: false } },
  ),
  list_item: {
    content: "paragraph list*",
    defining: true,
    selectable: false,
    attrs: common,
    parseDOM: [{ tag: "li" }],
    toDOM: () => ["li", 0],
  },
  quote: box("quote", "block+ cite?", { toDOM: (node) => ["blockquote", looks(attrsOf(node).tag), 0], parseDOM: [{ tag: "blockquote" }] }),
  cite: text("cite", { group: "", selectable: false, toDOM: () => ["div", { "data-kind": "cite" }, 0] }),
  pullquote: box("pullquote", "paragraph cite?", { isolating: true }, { inner: { default: "" } }),
  code: text("pre", { code: true, whitespace: "pre", toDOM: () => ["pre", { "data-kind": "code" }, ["code", 0]] }, { inner: { default: "" } }),
  preformatted: text("pre", { whitespace: "pre", parseDOM: [], toDOM: (node) => ["pre", { "data-kind": "preformatted", ...looks(attrsOf(node).tag) }, 0] }),
  verse: text("pre", { whitespace: "pre", parseDOM: [], toDOM: (node) => ["pre", { "data-kind": "verse", ...looks(attrsOf(node).tag) }, 0] }),
  table_figure: box("table", "table caption?", { isolating: true, draggable: true }),
  table: {
    content: "table_row+",
    tableRole: "table",
    isolating: true,
    attrs: common,
    toDOM: (node) => ["table", looks(attrsOf(node).tag), ["tbody", 0]],
  },
  table_row: {
    content: "(table_cell | table_header)*",
    tableRole: "row",
    attrs: { ...common, section: { default: "body" } },
    toDOM: (node) => ["tr", { "data-section": node.attrs["section"] as string }, 0],
    parseDOM: [{ tag: "tr" }],
  },
  table_cell: { ...cells, tableRole: "cell", toDOM: cell("td"), parseDOM: [{ tag: "td" }] },
  table_header: { ...cells, tableRole: "header_cell", toDOM: cell("th"), parseDOM: [{ tag: "th" }] },
  caption: text("figcaption", { group: "", selectable: false, parseDOM: [{ tag: "figcaption" }] }),
  image: text(
    "figure",
    { parseDOM: [], toDOM: picture, draggable: true, isolating: true },
    { outer: { default: null }, link: { default: null }, img: { default: "<img/>" }, cap: { default: null } },
  ),
  gallery: box("gallery", "image+ caption?", { isolating: true, draggable: true }, { behind: { default: "" } }),
  embed: text(
    "figure",
    { parseDOM: [], draggable: true, isolating: true, toDOM: () => ["figure", { "data-kind": "embed" }, ["figcaption", 0]] },
    { name: { default: "core/embed" }, url: { default: "" }, cap: { default: null } },
  ),
  player: text(
    "figure",
    { parseDOM: [], draggable: true, isolating: true, toDOM: () => ["figure", { "data-kind": "player" }, ["figcaption", 0]] },
    { kind: { default: "audio" }, media: { default: "" }, cap: { default: null } },
  ),
  columns: box("columns", "column+", { isolating: true, draggable: true }, { el: { default: "div" } }),
  column: box("column", "block+", { group: "", isolating: true }, { el: { default: "div" } }),
  group: box("group", "block+", { draggable: true }, { el: { default: "div" } }),
  /** `before`, `inner`, `after`: markup before the element around the inside, inside its opening tag, and behind it. */
  cover: box("cover", "block+", { isolating: true, draggable: true }, framed),
  media_text: box("media_text", "block+", { isolating: true, draggable: true }, framed),
  details: box("details", "summary block*", { isolating: true, draggable: true }),
  summary: text("summary", { group: "", selectable: false, parseDOM: [], toDOM: () => ["div", { "data-kind": "summary" }, 0] }),
  buttons: box("buttons", "button+", { draggable: true }, { el: { default: "div" } }),
  button: text("div", { parseDOM: [], toDOM: (node) => ["div", { "data-kind": "button", ...looks(attrsOf(node).tag) }, ["span", 0]] }, { link: { default: null } }),
  separator: object("separator", { source: { default: null } }),
  spacer: object("spacer", { source: { default: null } }),
  more: object("more", { source: { default: null } }),
  nextpage: object("nextpage", { source: { default: null } }),
  reusable: object("reusable"),
  file: object("file", { source: { default: "" } }),
  raw: object("raw", { name: { default: "core/html" }, source: { default: "" } }),
  verbatim: object("verbatim", { name: { default: "" }, source: { default: "" }, closers: { default: "" } }),
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

export const schema = new Schema({ nodes, marks });

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
