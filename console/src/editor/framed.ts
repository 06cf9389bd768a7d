/**
 * Blocks with a frame of several elements around their inner blocks: covers, media beside text, details that fold.
 *
 * What is around the inside (a picture, an overlay) stays as it is written; only what somebody changes is written again.
 */
import type { Node } from "prosemirror-model";
import { type Frame, boxOf, frameOf } from "./boxes";
import { type Read, childrenOf, elementOf } from "./element";
import type { Block } from "./grammar";
import { type Token, hasClass, tokens } from "./html";
import { readInline } from "./inline";
import type { Reader } from "./read";
import { schema } from "./schema";

/** Elements without an end. */
const EMPTY = new Set(["img", "br", "hr", "input", "source", "track", "embed", "wbr"]);

/** How far a token opens or closes elements; null for markup that does not end. */
function step(token: Token): number | null {
  if (token.kind === "broken") return null;
  if (token.kind === "close") return -1;
  return token.kind === "open" && !EMPTY.has(token.name) && !token.raw.endsWith("/>") ? 1 : 0;
}

/** Where the element of a class begins among the children of a text's elements, or null. */
function inner(html: string, name: string): Token | null {
  let depth = 0;
  for (const token of tokens(html)) {
    if (depth === 0 && token.kind === "open" && token.name === "div" && hasClass(token.raw, name)) return token;
    const change = step(token);
    if (change === null || depth + change < 0) return null;
    depth += change;
  }
  return null;
}

/** Whether each element of a text ends in it. */
function whole(html: string): boolean {
  let depth = 0;
  for (const token of tokens(html)) {
    const change = step(token);
    if (change === null || depth + change < 0) return false;
    depth += change;
  }
  return depth === 0;
}

/** The first `</div>` that ends an element which began before the text. */
function ending(html: string): Token | null {
  let depth = 0;
  for (const token of tokens(html)) {
    const change = step(token);
    if (change === null) return null;
    depth += change;
    if (depth < 0) return token.raw === "</div>" ? token : null;
  }
  return null;
}

interface Framed extends Frame {
  before: string;
  inner: string;
  after: string;
}

/** A frame with a second element, of a class, around the inner blocks, and more beside that. */
function framed(block: Block, name: string): Framed | null {
  const frame = frameOf(block);
  const first = frame?.pieces[0];
  const last = frame?.pieces[frame.pieces.length - 1];
  if (frame?.name !== "div" || typeof first !== "string" || typeof last !== "string") return null;
  const open = inner(first, name);
  if (open === null) return null;
  const alone = frame.pieces.length === 1;
  const rest = alone ? first.slice(open.end) : last;
  const close = ending(rest);
  const before = first.slice(0, open.start);
  const after = close === null ? "" : rest.slice(close.end);
  if (close === null || !whole(before) || !whole(after) || !open.raw.startsWith("<div")) return null;
  const inside = rest.slice(0, close.start);
  return {
    ...frame,
    head: frame.head + first.slice(0, open.end),
    pieces: alone ? [inside] : [first.slice(open.end), ...frame.pieces.slice(1, -1), inside],
    tail: rest.slice(close.start) + frame.tail,
    before,
    inner: open.raw.slice("<div".length, -1),
    after,
  };
}

function framedBlock(kind: string, name: string): Read {
  return (reader, block, place) => {
    const frame = framed(block, name);
    const series = frame === null ? null : childrenOf(reader, frame.pieces, null);
    if (frame === null || series === null) return null;
    return boxOf(reader, kind, block, frame, series, place, { before: frame.before, inner: frame.inner, after: frame.after });
  };
}

export const readCover = framedBlock("cover", "wp-block-cover__inner-container");
export const readMediaText = framedBlock("media_text", "wp-block-media-text__content");

/** A line that is always shown, and blocks that are unfolded. */
export const readDetails: Read = (reader, block, place) => {
  const frame = frameOf(block);
  const [first, ...others] = frame?.pieces ?? [];
  if (frame?.name !== "details" || typeof first !== "string") return null;
  const end = first.indexOf("</summary>") + "</summary>".length;
  const summary = end < "</summary>".length ? null : readSummary(reader, first.slice(0, end));
  const series = summary === null ? null : childrenOf(reader, [first.slice(end), ...others], null);
  if (summary === null || series === null) return null;
  series.found.unshift({ before: /^\s*/.exec(first)?.[0] ?? "", node: summary });
  return boxOf(reader, "details", block, frame, series, place, {});
};

function readSummary(reader: Reader, html: string): Node | null {
  const found = elementOf(html.trim());
  const content = found?.name === "summary" ? readInline(found.inside, "flow") : null;
  if (found === null || content === null) return null;
  const parts = { head: found.head, inside: found.inside, tail: found.tail, place: "inner" as const };
  return reader.make(parts, (slice) => schema.node("summary", { slice, tag: found.tag ?? "" }, content));
}
