/**
 * The slices that a document was read from.
 *
 * A node that still equals what was read from its slice is written as the slice. One whose own attributes are the same and whose
 * inside changed keeps the beginning and the end of its slice.
 */
import type { Node } from "prosemirror-model";
import { attrsOf } from "./schema";

/**
 * Where a node stands, which decides how it may be written: "top" of the content, "inner" of a block whose children are blocks,
 * "html" within an element without delimiters, "flow" likewise where a line end is no break, "part" of a list item or a table.
 */
export type Place = "top" | "inner" | "html" | "flow" | "part";

export interface Slice {
  text: string;
  /** What comes before the first child or the inside, and what comes after it. */
  head: string;
  tail: string;
  place: Place;
  /** The node that was read from it. */
  node: Node | null;
  /** The slice behind it in the same parent, and the text between them. */
  next: number | null;
  between: string;
}

export class Slices {
  private readonly all: Slice[] = [];

  /** Takes up a slice; `build` makes its node, which gets the number. */
  take(parts: { head: string; inside: string; tail: string; place: Place }, build: (slice: number) => Node): Node {
    const number = this.all.length;
    const slice: Slice = {
      text: parts.head + parts.inside + parts.tail,
      head: parts.head,
      tail: parts.tail,
      place: parts.place,
      node: null,
      next: null,
      between: "",
    };
    this.all.push(slice);
    slice.node = build(number);
    return slice.node;
  }

  /** How many there are: what is read and then dropped is taken back by `cut`. */
  get length(): number {
    return this.all.length;
  }

  cut(length: number): void {
    this.all.length = length;
  }

  /** Says that a node came behind another one. */
  follows(before: Node, node: Node, between: string): void {
    const slice = this.of(before);
    if (slice === null) return;
    slice.next = attrsOf(node).slice;
    slice.between = between;
  }

  of(node: Node): Slice | null {
    const number = attrsOf(node).slice ?? null;
    return number === null ? null : (this.all[number] ?? null);
  }

  /** The text that was between two nodes, or null when they were not neighbours. */
  between(before: Node, node: Node): string | null {
    const slice = this.of(before);
    return slice !== null && slice.next !== null && slice.next === attrsOf(node).slice ? slice.between : null;
  }
}
