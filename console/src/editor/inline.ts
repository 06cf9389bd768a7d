/**
 * The inside of a paragraph and the like: markup to nodes and back.
 *
 * Every tag and reference that is not written as the editor would write it is kept in a mark or node, so that reading and
 * writing give the same text. What cannot be read so gives `null`: the caller keeps it as it is.
 */
import { Fragment, Mark, type Node } from "prosemirror-model";
import { REFERENCE, attribute, character, escapedValue, insideOf, type Token, tokens } from "./html";
import { ELEMENTS, FORMATS, schema } from "./schema";

/**
 * How white space counts: "flow" as in HTML, "classic" where a line end is a break, "bare" likewise without an element around it,
 * "pre" as it is written, "code" likewise and without shortcodes.
 */
export type Mode = "flow" | "classic" | "bare" | "pre" | "code";

/** Elements whose inside is not text of the content: kept as one object. */
const OBJECTS = new Set(
  "iframe script style svg object button select textarea audio video math noscript canvas picture map ruby template meter progress dialog embed applet marquee".split(" "),
);
const VOID = new Set("area base col embed img input link meta param source track wbr".split(" "));

interface OpenMark {
  mark: Mark;
  name: string;
  /** Its name as it is written. */
  spelled: string;
}

class Reader {
  readonly nodes: Node[] = [];
  private readonly stack: OpenMark[] = [];
  /** The mark that was closed last, while nothing has come after it. */
  private closed: Mark | null = null;
  private readonly mode: Mode;

  constructor(mode: Mode) {
    this.mode = mode;
  }

  get level(): number {
    return this.stack.length;
  }

  add(node: Node): void {
    let marks = node.marks;
    for (const open of this.stack) marks = open.mark.addToSet(marks);
    this.nodes.push(node.mark(marks));
    this.closed = null;
  }

  open(token: Token): boolean {
    if (token.raw.endsWith("/>")) return false;
    const inside = insideOf(token.raw);
    const usual = FORMATS[token.name] as string;
    const href = usual === "link" ? attribute(inside, "href") : null;
    const taken = this.stack.some((one) => one.mark.type.name === usual);
    const name = taken || (usual === "link" && href === null) ? "element" : usual;
    const plain = token.raw === (name === "link" ? `<a href="${escapedValue(href ?? "")}">` : `<${ELEMENTS[name] as string}>`);
    const depth = this.stack.length;
    const attrs = { open: plain ? null : token.raw, depth, ...(name === "link" ? { href } : {}), ...(name === "element" ? { name: token.name } : {}) };
    let mark = schema.mark(name, attrs);
    if (this.closed?.eq(mark)) mark = schema.mark(name, { ...attrs, turn: 1 });
    this.stack.push({ mark, name: token.name, spelled: token.raw.slice(1, 1 + token.name.length) });
    return true;
  }

  close(token: Token): boolean {
    const open = this.stack.pop();
    if (open === undefined || token.raw !== `</${open.spelled}>`) return false;
    this.closed = open.mark;
    return true;
  }

  text(raw: string): void {
    const pattern = this.mode === "pre" || this.mode === "code" ? /\r\n?/g : /[ \t]*(?:\r\n?|\n)[ \t\r\n]*/g;
    let at = 0;
    for (const match of raw.matchAll(pattern)) {
      this.plain(raw.slice(at, match.index));
      this.lineEnd(match[0]);
      at = match.index + match[0].length;
    }
    this.plain(raw.slice(at));
  }

  private lineEnd(raw: string): void {
    const breaks = this.mode === "classic" || this.mode === "bare";
    const last = this.nodes[this.nodes.length - 1];
    // Behind a `<br>` a line end makes no second break.
    const second = last?.type.name === "hard_break" && /^<br/i.test((last.attrs["raw"] as string | null) ?? "<br>");
    this.add(breaks && !second ? schema.node("hard_break", { raw }) : schema.node("newline", { raw }));
  }

  private plain(text: string): void {
    let at = 0;
    let run = "";
    const flush = () => {
      if (run !== "") this.add(schema.text(run));
      run = "";
    };
    for (const match of text.matchAll(SPECIAL)) {
      run += text.slice(at, match.index);
      const known = match[0].length > 1 ? character(match[0]) : match[0];
      // Of a reference that names nothing we know, only the `&` is special: it is written as it is.
      const raw = known === null ? "&" : match[0];
      const shown = known ?? "&";
      if (usual(shown, this.mode) === raw) {
        run += shown;
      } else {
        flush();
        this.add(schema.text(shown, [schema.mark("reference", { raw })]));
      }
      at = match.index + raw.length;
    }
    run += text.slice(at);
    flush();
  }
}

const SPECIAL = new RegExp(`${REFERENCE.source}|[&<>[\u00a0]`, "g");

/** How the editor writes a character. */
function usual(char: string, mode: Mode): string {
  if (char === "&") return "&amp;";
  if (char === "<") return "&lt;";
  if (char === "\u00a0") return "&nbsp;";
  if (char === ">") return "&gt;";
  // A shortcode in a listing is not to be filled in.
  return char === "[" && mode === "code" ? "&#91;" : char;
}

/** The nodes of a markup, or null. */
export function readInline(html: string, mode: Mode): Node[] | null {
  const reader = new Reader(mode);
  const all = tokens(html);
  for (let index = 0; index < all.length; index++) {
    const token = all[index] as Token;
    if (token.kind === "broken") return null;
    if (token.kind === "text") {
      reader.text(token.raw);
    } else if (token.kind === "comment") {
      reader.add(schema.node("inline_raw", { raw: token.raw }));
    } else if (token.kind === "close") {
      if (!reader.close(token)) return null;
    } else {
      const end = readElement(reader, html, all, index);
      if (end < 0) return null;
      index = end;
    }
  }
  return reader.level === 0 ? reader.nodes : null;
}

/** Reads what opens at a token; the index of its last token, or -1. */
function readElement(reader: Reader, html: string, all: Token[], index: number): number {
  const token = all[index] as Token;
  if (token.name === "br") {
    reader.add(schema.node("hard_break", { raw: token.raw }));
    return index;
  }
  if (token.name === "img") {
    reader.add(schema.node("inline_image", { raw: token.raw }));
    return index;
  }
  if (VOID.has(token.name)) {
    reader.add(schema.node("inline_raw", { raw: token.raw }));
    return index;
  }
  const next = all[index + 1];
  const empty = next?.kind === "close" && next.name === token.name;
  if (!OBJECTS.has(token.name) && !empty) {
    return token.name in FORMATS && reader.open(token) ? index : -1;
  }
  if (!(token.name in FORMATS) && !OBJECTS.has(token.name)) return -1;
  const end = closing(all, index);
  if (end < 0) return -1;
  reader.add(schema.node("inline_raw", { raw: html.slice(token.start, (all[end] as Token).end) }));
  return end;
}

/** The index of the token that closes the element that a token opens, or -1. */
export function closing(all: Token[], index: number): number {
  const name = (all[index] as Token).name;
  let depth = 0;
  for (let at = index; at < all.length; at++) {
    const token = all[at] as Token;
    if (token.name !== name) continue;
    if (token.kind === "open") depth++;
    if (token.kind === "close" && --depth === 0) return at;
  }
  return -1;
}

/** The markup of inline nodes. */
export function writeInline(content: Fragment, mode: Mode): string {
  const parts: string[] = [];
  const open: Mark[] = [];
  const nodes = content.content;
  nodes.forEach((_, index) => {
    const wanted = nesting(nodes, index);
    let same = 0;
    while (same < open.length && open[same]?.isInSet(wanted)) same++;
    while (open.length > same) parts.push(endTag(open.pop() as Mark));
    for (const mark of wanted) {
      if (open.some((one) => one.eq(mark))) continue;
      parts.push(startTag(mark));
      open.push(mark);
    }
    parts.push(writeLeaf(nodes, index, mode));
    if (index === nodes.length - 1) while (open.length > 0) parts.push(endTag(open.pop() as Mark));
  });
  return parts.join("");
}

/**
 * The marks of a node, the outermost first: those that were read in the order of their nesting, others where they can stay open
 * the longest.
 */
function nesting(nodes: readonly Node[], index: number): Mark[] {
  const marks = (nodes[index] as Node).marks.filter((mark) => mark.type.name !== "reference");
  if (marks.length < 2) return marks;
  const reach = (mark: Mark) => {
    let end = index;
    while (end < nodes.length && mark.isInSet((nodes[end] as Node).marks)) end++;
    return end;
  };
  const depth = (mark: Mark) => mark.attrs["depth"] as number | null;
  const sorted = marks.filter((mark) => depth(mark) !== null).sort((a, b) => (depth(a) as number) - (depth(b) as number));
  for (const mark of marks.filter((one) => depth(one) === null)) {
    const place = sorted.findIndex((other) => reach(other) < reach(mark));
    sorted.splice(place < 0 ? sorted.length : place, 0, mark);
  }
  return sorted;
}

function startTag(mark: Mark): string {
  const open = mark.attrs["open"] as string | null;
  if (open !== null) return open;
  if (mark.type.name === "link") return `<a href="${escapedValue(mark.attrs["href"] as string)}">`;
  return `<${elementOf(mark)}>`;
}

function endTag(mark: Mark): string {
  const open = mark.attrs["open"] as string | null;
  return `</${open === null ? elementOf(mark) : (/^<([^\s/>]+)/.exec(open)?.[1] ?? elementOf(mark))}>`;
}

function elementOf(mark: Mark): string {
  return mark.type.name === "element" ? (mark.attrs["name"] as string) : (ELEMENTS[mark.type.name] as string);
}

function writeLeaf(nodes: readonly Node[], index: number, mode: Mode): string {
  const node = nodes[index] as Node;
  if (node.isText) return writeText(node, mode, textBehind(nodes, index));
  const raw = node.attrs["raw"] as string | null;
  if (node.type.name !== "hard_break") return raw ?? "";
  return writeBreak(nodes, index, raw, mode);
}

/** The text that is written directly behind a node, without a tag between them. */
function textBehind(nodes: readonly Node[], index: number): string {
  const plain = (node: Node): readonly Mark[] => node.marks.filter((mark) => mark.type.name !== "reference");
  const [node, next] = [nodes[index] as Node, nodes[index + 1]];
  return next?.isText === true && Mark.sameSet(plain(node), plain(next)) ? (next.text as string) : "";
}

/** Whether a sign that stands as it is would begin a tag or a reference with what somebody has typed behind it. */
function begins(sign: string, behind: string): boolean {
  if (sign === "<") return /^[a-zA-Z/!?]/.test(behind);
  const name = /^(?:[a-zA-Z][a-zA-Z0-9]{1,10}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});/.exec(behind)?.[0];
  return sign === "&" && name !== undefined && character(`&${name}`) !== null;
}

function writeText(node: Node, mode: Mode, behind: string): string {
  const text = node.text as string;
  const reference = node.marks.find((mark) => mark.type.name === "reference")?.attrs["raw"] as string | undefined;
  if (reference !== undefined) {
    const meant = reference.length > 1 ? character(reference) : reference;
    if (meant !== null && !begins(reference, behind) && text === meant.repeat(text.length / meant.length)) return reference.repeat(text.length / meant.length);
  }
  return text.replace(/[&<>[\u00a0]/g, (char) => usual(char, mode));
}

function writeBreak(nodes: readonly Node[], index: number, raw: string | null, mode: Mode): string {
  const element = mode === "bare" || mode === "classic" ? "<br />" : "<br>";
  if (raw === null) {
    if (mode === "pre" || mode === "code") return "\n";
    return mode === "bare" || mode === "classic" ? "<br />\n" : "<br>";
  }
  if (/^</.test(raw)) return raw;
  // A line end alone is a break only where pages make it one, and two of them would end the paragraph.
  if (mode !== "bare" && mode !== "classic") return mode === "flow" ? element : raw;
  const edge = index === 0 || index === nodes.length - 1;
  const before = nodes[index - 1]?.type.name;
  return edge || before === "hard_break" || before === "newline" ? element : raw;
}

export function inlineFragment(nodes: Node[]): Fragment {
  return Fragment.fromArray(nodes);
}
