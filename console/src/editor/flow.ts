/**
 * Markup without delimiters, cut at blank lines and elements.
 */
import type { Node } from "prosemirror-model";
import { elementReaders, schema } from "./blocks";
import { type Token, tokens } from "./html";
import { closing, readInline } from "./inline";
import type { Found, Reader, Series } from "./read";
import type { Place } from "./slices";

/** Elements that end a bare paragraph. Those that are not text are kept as they are. */
const ELEMENTS = new Set(
  (
    "p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre table hr div figure section article aside header footer nav main address form fieldset " +
    "details summary iframe script style object video audio noscript center li dt dd tr td th thead tbody tfoot hgroup legend menu"
  ).split(" "),
);
const VOID = new Set(["hr"]);
const COMMENT = /^<!--([a-z]+)(?=\s|-->)[\s\S]*?-->$/;

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
  if (token.kind === "comment") return elementReaders.has(nameOf(token));
  return token.kind === "broken" || ((token.kind === "open" || token.kind === "close") && ELEMENTS.has(token.name));
}

function nameOf(token: Token): string {
  return token.kind === "comment" ? `!--${COMMENT.exec(token.raw)?.[1] ?? ""}` : token.name;
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

function readBare(reader: Reader, text: string, place: Place): Node | null {
  // Only blocks may be in blocks, and only elements where line ends mean nothing.
  if (place === "inner" || place === "flow") return null;
  const content = readInline(text, reader.classic ? "bare" : "flow");
  if (content === null) return null;
  return reader.make({ head: "", inside: text, tail: "", place }, (slice) => schema.node("paragraph", { slice, style: "bare" }, content));
}

function readElement(reader: Reader, text: string, token: Token, place: Place): Node | null {
  if (place === "inner" || (token.kind !== "open" && token.kind !== "comment")) return null;
  for (const read of elementReaders.get(nameOf(token)) ?? []) {
    const node = read(reader, text, token, place);
    if (node !== null) return node;
  }
  return null;
}
