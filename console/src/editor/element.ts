/**
 * Shapes of markup that several kinds of blocks share.
 */
import type { Node } from "prosemirror-model";
import type { Block, Piece } from "./grammar";
import { type Token, tokens } from "./html";
import { type Mode, closing, readInline } from "./inline";
import type { Read, ReadElement } from "./kind";
import type { Reader, Series } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";

/** An element that fills a text but for white space around it. */
export interface Element {
  name: string;
  /** Inside of its opening tag; null when it is empty. */
  tag: string | null;
  /** White space and opening tag, closing tag and white space. */
  head: string;
  inside: string;
  tail: string;
}

/** The element that a text is, or null. */
export function elementOf(html: string): Element | null {
  const all = tokens(html);
  const blank = (token: Token | undefined) => token?.kind === "text" && token.raw.trim() === "";
  const first = blank(all[0]) ? 1 : 0;
  const last = blank(all[all.length - 1]) ? all.length - 2 : all.length - 1;
  const open = all[first];
  const close = all[last];
  if (open?.kind !== "open" || close === undefined || closing(all, first) !== last || last <= first) return null;
  if (close.raw !== `</${open.name}>` || !open.raw.startsWith(`<${open.name}`)) return null;
  const tag = open.raw.slice(1 + open.name.length, -1);
  return {
    name: open.name,
    tag: tag === "" ? null : tag,
    head: html.slice(0, open.end),
    inside: html.slice(open.end, close.start),
    tail: html.slice(close.start),
  };
}

/** The text of a block without inner blocks, or null. */
export function onlyText(block: Block): string | null {
  if (block.single || block.close === null || block.inside.length > 1) return null;
  const inside = block.inside[0] ?? "";
  return typeof inside === "string" ? inside : null;
}

/** The children of a frame: blocks with white space between them, of some kinds only. */
export function childrenOf(reader: Reader, pieces: Piece[], kinds: RegExp | null): Series | null {
  if (pieces.some((piece) => typeof piece === "string" && piece.trim() !== "")) return null;
  const series = reader.pieces(pieces, "inner");
  if (kinds !== null && series.found.some(({ node }) => !kinds.test(node.type.name))) return null;
  return series;
}

/** The element that fills a block, if it has such a name. */
export function elementIn(block: Block, names: RegExp): Element | null {
  const text = onlyText(block);
  const found = text === null ? null : elementOf(text);
  return found !== null && names.test(found.name) ? found : null;
}

/** A block that is one element with text in it. */
export function textBlock(kind: string, names: RegExp, mode: Mode, more: (found: Element) => object = () => ({})): Read {
  return (reader, block, place) => {
    const found = elementIn(block, names);
    const content = found === null ? null : readInline(found.inside, mode);
    if (found === null || content === null) return null;
    const parts = { head: block.open + found.head, inside: found.inside, tail: found.tail + (block.close ?? ""), place };
    const attrs = { style: "block", json: block.json, tag: found.tag ?? "", ...more(found) };
    return reader.make(parts, (slice) => schema.node(kind, { slice, ...attrs }, content));
  };
}

/** An object whose text must have a shape. */
export function objectBlock(kind: string, shape: RegExp): Read {
  return (reader, block, place) => {
    const text = onlyText(block);
    if (text === null || !shape.test(text)) return null;
    const whole = block.open + text + (block.close ?? "");
    return reader.object(whole, place, (slice) => schema.node(kind, { slice, style: "block", json: block.json, source: text.trim() }));
  };
}

/** An object without delimiters. */
export function plainObject(kind: string): ReadElement {
  return (reader, text, _, place) => reader.object(text, place, (slice) => schema.node(kind, { slice, style: "html", source: text }));
}

/** The parts of an element without delimiters, and the inside of its opening tag; null where it is not closed. */
export function partsOf(text: string, token: Token, place: Place) {
  const close = `</${token.name}>`;
  if (!text.endsWith(close) || text.length < token.raw.length + close.length) return null;
  const tag = token.raw.slice(1 + token.name.length, -1);
  return { head: token.raw, inside: text.slice(token.raw.length, -close.length), tail: close, place, tag: tag === "" ? null : tag };
}

/** An element with text in it, without delimiters. */
export function plainText(kind: string, mode: Mode | null, more: (name: string) => object = () => ({})): ReadElement {
  return (reader, text, token, place) => {
    const parts = partsOf(text, token, place);
    const content = parts === null ? null : readInline(parts.inside, mode ?? (reader.classic && place !== "flow" ? "classic" : "flow"));
    if (parts === null || content === null) return null;
    return reader.make(parts, (slice) => schema.node(kind, { slice, style: "html", tag: parts.tag, ...more(token.name) }, content));
  };
}

/** An element with text that is a part of a block. */
export function readPart(reader: Reader, html: string, kind: string, name: string, place: Place): Node | null {
  const found = elementOf(html.trim());
  const content = found?.name === name ? readInline(found.inside, "flow") : null;
  if (found === null || content === null) return null;
  const parts = { head: found.head, inside: found.inside, tail: found.tail, place };
  return reader.make(parts, (slice) => schema.node(kind, { slice, tag: found.tag ?? "" }, content));
}
