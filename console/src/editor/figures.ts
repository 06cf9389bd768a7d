/**
 * Blocks that are a figure with a caption.
 */
import type { Node } from "prosemirror-model";
import { type Element, elementIn, elementOf } from "./element";
import type { Block } from "./grammar";
import { readInline } from "./inline";
import type { Reader } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";

/** What a figure with a caption in it is made of. */
export interface Captioned {
  /** Markup before the caption. */
  body: string;
  cap: string | null;
  head: string;
  inside: string;
  tail: string;
  content: Node[];
}

/** The two parts of a figure's inside; null when its caption cannot be edited. */
export function captioned(html: string): Captioned | null {
  const start = html.indexOf("<figcaption");
  if (start < 0) return { body: html, cap: null, head: html, inside: "", tail: "", content: [] };
  const found = elementOf(html.slice(start));
  const content = found?.name === "figcaption" ? readInline(found.inside, "flow") : null;
  if (found === null || content === null) return null;
  return { body: html.slice(0, start), cap: found.tag ?? "", head: html.slice(0, start) + found.head, inside: found.inside, tail: found.tail, content };
}

/** A block that is a figure with a caption. `attrs` says what is in its body; null where it is something else. */
export function readCaptioned(reader: Reader, block: Block, place: Place, kind: string, attrs: (body: Element) => object | null): Node | null {
  const figure = elementIn(block, /^figure$/);
  const parts = figure === null ? null : captioned(figure.inside);
  const body = parts === null ? null : elementOf(parts.body);
  const more = body === null ? null : attrs(body);
  if (figure === null || parts === null || more === null) return null;
  const ends = { head: block.open + figure.head + parts.head, inside: parts.inside, tail: parts.tail + figure.tail + (block.close ?? ""), place };
  const all = { style: "block", json: block.json, tag: figure.tag ?? "", cap: parts.cap, ...more };
  return reader.make(ends, (slice) => schema.node(kind, { slice, ...all }, parts.content));
}
