/**
 * Blocks with an element around their inner blocks.
 */
import type { Node } from "prosemirror-model";
import { childrenOf, elementOf } from "./element";
import type { Block, Piece } from "./grammar";
import type { Read } from "./kind";
import type { Found, Reader, Series } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";

/** The two ends of an element around inner blocks, and what is between them. */
export interface Frame {
  name: string;
  tag: string;
  head: string;
  pieces: Piece[];
  tail: string;
}

/** A block whose first and last text are the two ends of one element around its inner blocks. */
export function frameOf(block: Block): Frame | null {
  if (block.single || block.close === null) return null;
  const pieces = [...block.inside];
  const first = pieces.shift();
  if (typeof first !== "string") return null;
  if (pieces.length === 0) {
    const found = elementOf(first);
    if (found === null) return null;
    return { name: found.name, tag: found.tag ?? "", head: block.open + found.head, pieces: [found.inside], tail: found.tail + block.close };
  }
  const last = pieces.pop();
  if (typeof last !== "string") return null;
  const open = /^\s*<([a-z][a-z0-9]*)((?:\s[^<>]*)?)>/.exec(first);
  const close = /<\/([a-z][a-z0-9]*)>\s*$/.exec(last);
  if (open === null || close === null || open[1] !== close[1]) return null;
  let [head, tail] = [open[0], close[0]];
  // Groups had a second element within the first.
  const inner = /^\s*<div class="wp-block-group__inner-container">/.exec(first.slice(head.length))?.[0];
  const innerEnd = inner === undefined ? undefined : /<\/div>\s*$/.exec(last.slice(0, close.index))?.[0];
  if (inner !== undefined && innerEnd !== undefined) {
    head += inner;
    tail = innerEnd + tail;
  }
  return {
    name: open[1] as string,
    tag: open[2] as string,
    head: block.open + head,
    pieces: [first.slice(head.length), ...pieces, last.slice(0, last.length - tail.length)],
    tail: tail + block.close,
  };
}

/** A node of a frame and its children. */
export function boxOf(reader: Reader, kind: string, block: Block, frame: Frame, series: Series, place: Place, more: object): Node | null {
  const lead = series.found[0]?.before ?? series.rest;
  const rest = series.found.length === 0 ? "" : series.rest;
  const inside = joinedFound(reader, series.found);
  const children = series.found.length === 0 ? [schema.node("paragraph")] : reader.children(series.found);
  const attrs = { style: "block", json: block.json, tag: frame.tag, ...more };
  const parts = { head: frame.head + lead, inside, tail: rest + frame.tail, place };
  return reader.make(parts, (slice) => schema.node(kind, { slice, ...attrs }, children));
}

function joinedFound(reader: Reader, found: Found[]): string {
  return found.map(({ before, node }, index) => (index === 0 ? "" : before) + (reader.slices.of(node)?.text ?? "")).join("");
}

/** A block with an element around inner blocks. */
export function boxBlock(kind: string, names: RegExp, kinds: RegExp | null): Read {
  return (reader, block, place) => {
    const frame = frameOf(block);
    if (frame === null || !names.test(frame.name)) return null;
    const series = childrenOf(reader, frame.pieces, kinds);
    if (series === null || (series.found.length === 0 && kinds !== null)) return null;
    return boxOf(reader, kind, block, frame, series, place, { el: frame.name });
  };
}

/** Elements that boxes may be. */
export const BOX = /^(?:div|section|main|article|aside|header|footer|nav)$/;
