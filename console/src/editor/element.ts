/**
 * Shapes of markup that several kinds of blocks share.
 */
import type { Node } from "prosemirror-model";
import type { Block, Piece } from "./grammar";
import { type Token, tokens } from "./html";
import { closing, readInline } from "./inline";
import type { Reader, Series } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";

export type Read = (reader: Reader, block: Block, place: Place) => Node | null;

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

/** A caption that is a node of its own. */
export function readCaption(reader: Reader, html: string, place: Place): Node | null {
  const found = elementOf(html);
  const content = found?.name === "figcaption" ? readInline(found.inside, "flow") : null;
  if (found === null || content === null) return null;
  const parts = { head: found.head, inside: found.inside, tail: found.tail, place };
  return reader.make(parts, (slice) => schema.node("caption", { slice, tag: found.tag ?? "" }, content));
}
