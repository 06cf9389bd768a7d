/**
 * Markup without delimiters, cut at blank lines and elements.
 */
import type { Node } from "prosemirror-model";
import { readFigure } from "./figures";
import { type Token, tokens } from "./html";
import { type Mode, closing, readInline } from "./inline";
import { readList } from "./lists";
import type { Found, Reader, Series } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";
import { readTable } from "./tables";

/** Elements that end a bare paragraph. Those that are not text are kept as they are. */
const ELEMENTS = new Set(
  (
    "p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre table hr div figure section article aside header footer nav main address form fieldset " +
    "details summary iframe script style object video audio noscript center li dt dd tr td th thead tbody tfoot hgroup legend menu"
  ).split(" "),
);
const VOID = new Set(["hr"]);
const MARK = /^<!--(more|nextpage)(?=\s|-->)[\s\S]*?-->$/;

/** The nodes of a markup. What cannot be read is kept as it is, so that this never fails. */
export function readFlow(reader: Reader, html: string, place: Place): Series {
  const found: Found[] = [];
  const all = tokens(html);
  let at = 0;
  let before = "";
  let index = 0;
  const add = (end: number, read: (text: string) => Node | null) => {
    const text = html.slice(at, end);
    const node = reader.attempt(() => read(text)) ?? reader.verbatim(text, "", place);
    found.push({ before, node });
    before = "";
    at = end;
  };
  while (at < html.length) {
    const space = spaceAt(html, at);
    before += space;
    at += space.length;
    if (at >= html.length) break;
    while (index < all.length && (all[index] as Token).end <= at) index++;
    const token = all[index] as Token;
    if (token.start === at && isBoundary(token)) {
      const end = endOfElement(all, index, html.length);
      add(end, (text) => readElement(reader, text, token, place));
    } else {
      add(endOfBare(html, all, index, at), (text) => readBare(reader, text, place));
    }
  }
  return { found, rest: before };
}

/** The white space at a place. */
function spaceAt(html: string, at: number): string {
  let end = at;
  while (end < html.length && /\s/.test(html[end] as string)) end++;
  return html.slice(at, end);
}

function isBoundary(token: Token): boolean {
  if (token.kind === "comment") return MARK.test(token.raw);
  return token.kind === "broken" || ((token.kind === "open" || token.kind === "close") && ELEMENTS.has(token.name));
}

function endOfElement(all: Token[], index: number, length: number): number {
  const token = all[index] as Token;
  if (token.kind !== "open" || VOID.has(token.name) || token.raw.endsWith("/>")) return token.end;
  if (token.name === "p") {
    // A paragraph ends where it is closed, or before the next element.
    for (let at = index + 1; at < all.length; at++) {
      const next = all[at] as Token;
      if (next.kind === "close" && next.name === "p") return next.end;
      if (isBoundary(next)) return next.start;
    }
    return length;
  }
  const end = closing(all, index);
  return end < 0 ? length : (all[end] as Token).end;
}

/** Where a bare paragraph ends: before a blank line or an element, without the white space. */
function endOfBare(html: string, all: Token[], index: number, start: number): number {
  for (let at = index; at < all.length; at++) {
    const token = all[at] as Token;
    if (token.start > start && isBoundary(token)) return trimmed(html, start, token.start);
    if (token.kind !== "text") continue;
    const from = Math.max(token.start, start);
    const blank = /\n[ \t\r]*\n/.exec(html.slice(from, token.end));
    if (blank !== null && from + blank.index > start) return trimmed(html, start, from + blank.index);
  }
  return trimmed(html, start, html.length);
}

function trimmed(html: string, start: number, end: number): number {
  let at = end;
  while (at > start && /\s/.test(html[at - 1] as string)) at--;
  return at;
}

function modeOf(reader: Reader, place: Place): Mode {
  return reader.classic && place !== "flow" && place !== "inner" ? "classic" : "flow";
}

function readBare(reader: Reader, text: string, place: Place): Node | null {
  // Only blocks may be in blocks, and only elements where line ends mean nothing.
  if (place === "inner" || place === "flow") return null;
  const content = readInline(text, reader.classic ? "bare" : "flow");
  if (content === null) return null;
  return reader.make({ head: "", inside: text, tail: "", place }, (slice) => schema.node("paragraph", { slice, style: "bare" }, content));
}

function readElement(reader: Reader, text: string, token: Token, place: Place): Node | null {
  if (place === "inner") return null;
  if (token.kind === "comment") {
    const kind = MARK.exec(token.raw)?.[1] as "more" | "nextpage";
    return reader.object(text, place, (slice) => schema.node(kind, { slice, style: "html", source: text }));
  }
  if (token.kind !== "open") return null;
  if (token.name === "hr") return reader.object(text, place, (slice) => schema.node("separator", { slice, style: "html", source: text }));
  if (token.name === "figure") return readFigure(reader, text, place);
  if (token.name === "ul" || token.name === "ol") return readList(reader, text, place);
  const close = `</${token.name}>`;
  if (!text.endsWith(close) || text.length < token.raw.length + close.length) return null;
  const parts = { head: token.raw, inside: text.slice(token.raw.length, -close.length), tail: close, place };
  const tag = token.raw.slice(1 + token.name.length, -1);
  const inline = (kind: string, mode: Mode, attrs = {}) => {
    const content = readInline(parts.inside, mode);
    return content === null
      ? null
      : reader.make(parts, (slice) => schema.node(kind, { slice, style: "html", tag: tag === "" ? null : tag, ...attrs }, content));
  };
  if (token.name === "p") return inline("paragraph", modeOf(reader, place));
  if (/^h[1-6]$/.test(token.name)) return inline("heading", modeOf(reader, place), { level: Number(token.name[1]) });
  if (token.name === "pre") return readPre(reader, text, place) ?? inline("preformatted", "pre");
  if (token.name === "blockquote") return readQuote(reader, parts, tag, place);
  if (token.name === "table") {
    const table = readTable(reader, text);
    if (table === null) return null;
    return reader.make({ head: "", inside: text, tail: "", place }, (slice) => schema.node("table_figure", { slice, style: "html" }, [table]));
  }
  return null;
}

/** `<pre><code>…</code></pre>`: a listing. */
function readPre(reader: Reader, text: string, place: Place): Node | null {
  const match = /^<pre([^>]*)><code([^>]*)>([\s\S]*)<\/code><\/pre>$/.exec(text);
  const content = match === null ? null : readInline(match[3] as string, "code");
  if (match === null || content === null) return null;
  const inside = match[3] as string;
  const head = text.slice(0, text.length - inside.length - "</code></pre>".length);
  const attrs = { style: "html", tag: match[1] === "" ? null : match[1], inner: match[2] };
  return reader.make({ head, inside, tail: "</code></pre>", place }, (slice) => schema.node("code", { slice, ...attrs }, content));
}

function readQuote(reader: Reader, parts: { head: string; inside: string; tail: string; place: Place }, tag: string, place: Place): Node | null {
  const { found, rest } = reader.deeper(() => readFlow(reader, parts.inside, place === "flow" ? "flow" : "html")) ?? { found: [], rest: "" };
  if (found.length === 0 || found.some(({ node }) => node.type.name === "verbatim")) return null;
  const lead = found[0]?.before ?? "";
  const inside = parts.inside.slice(lead.length, parts.inside.length - rest.length);
  return reader.make({ head: parts.head + lead, inside, tail: rest + parts.tail, place }, (slice) =>
    schema.node("quote", { slice, style: "html", tag: tag === "" ? null : tag }, reader.children(found)),
  );
}
