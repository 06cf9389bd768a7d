/**
 * Nodes to text.
 *
 * A node that still equals its slice is written as the slice; one with the attributes of its slice gets the beginning and the end of
 * the slice around its new inside; any other is generated (`generate.ts`).
 */
import type { Node } from "prosemirror-model";
import { generate } from "./generate";
import { type Mode, writeInline } from "./inline";
import { isCaptioned, kindOf } from "./kind";
import { type Style, attrsOf } from "./schema";
import type { Place, Slice, Slices } from "./slices";

export class Writer {
  readonly classic: boolean;
  private readonly slices: Slices;
  private readonly written = new WeakMap<Node, { place: Place; text: string }>();

  /** `classic`: the content has no delimiters and is to get none. */
  constructor(slices: Slices, classic: boolean) {
    this.slices = slices;
    this.classic = classic;
  }

  /** The text of all children of the document. */
  document(doc: Node): string {
    return this.children(doc, "top");
  }

  /** The text of a node. */
  node(node: Node, place: Place): string {
    const known = this.written.get(node);
    if (known?.place === place) return known.text;
    const text = this.fresh(node, place);
    this.written.set(node, { place, text });
    return text;
  }

  private fresh(node: Node, place: Place): string {
    const slice = this.slices.of(node);
    if (slice !== null && slice.node !== null && fits(slice, place)) {
      if (slice.node === node || slice.node.eq(node)) return slice.text;
      if (keepsEnds(node, slice.node)) return slice.head + this.inside(node, place) + slice.tail;
    }
    return generate(this, node, place);
  }

  /** What is between the beginning and the end of a node. */
  inside(node: Node, place: Place): string {
    if (node.isAtom && !node.isTextblock) return "";
    if (node.isTextblock) return writeInline(node.content, this.mode(node, place));
    return this.children(node, this.placeIn(node, place));
  }

  private children(parent: Node, place: Place): string {
    const ownText = kindOf(parent).ownText === true;
    const only = parent.childCount === 1 ? parent.firstChild : null;
    if (only !== null && isFiller(only) && !ownText) return "";
    const parts: string[] = [];
    let before: Node | null = null;
    parent.forEach((child) => {
      const at = ownText && child.type.name === "paragraph" ? "part" : place;
      let text = this.node(child, at);
      const bare = child.type.name === "paragraph" && this.style(child, place) === "bare";
      if (text === "" && bare && !ownText) return;
      if (before !== null) {
        if (before.type.name === "verbatim") parts.push(before.attrs["closers"] as string);
        parts.push(this.slices.between(before, child) ?? separator(parent, before, child, place));
      }
      parts.push(text);
      before = child;
    });
    return parts.join("");
  }

  /** How a node is written in a place. */
  style(node: Node, place: Place): Style {
    const own = this.outgrown(node) ? "block" : attrsOf(node).style;
    if (place === "inner") return own === "old" ? "old" : "block";
    if (place !== "top") return own === "bare" && place === "html" ? "bare" : "html";
    if (own !== null) return own === "bare" && (attrsOf(node).tag ?? "") !== "" ? "html" : own;
    if (!this.classic || kindOf(node).plain !== true) return "block";
    return node.type.name === "paragraph" && (attrsOf(node).tag ?? "") === "" ? "bare" : "html";
  }

  private outgrown(node: Node): boolean {
    return attrsOf(node).style === "old" && kindOf(node).outgrown?.(node, (child) => this.slices.of(child)?.place === "flow") === true;
  }

  /** Where the children of a node are. */
  placeIn(node: Node, place: Place): Place {
    const own = kindOf(node).placeInside?.(place);
    if (own !== undefined) return own;
    const style = this.style(node, place);
    return style === "block" ? "inner" : style === "old" || place === "flow" ? "flow" : "html";
  }

  mode(node: Node, place: Place): Mode {
    if (node.type.spec.code === true) return "code";
    if (node.type.spec.whitespace === "pre") return "pre";
    if (!this.classic || place === "inner" || place === "flow") return "flow";
    const style = place === "part" ? "html" : this.style(node, place);
    return style === "bare" ? "bare" : style === "html" ? "classic" : "flow";
  }
}

/** A paragraph that is there only because its parent needs a child. */
function isFiller(node: Node): boolean {
  return node.type.name === "paragraph" && node.childCount === 0 && attrsOf(node).slice === null && attrsOf(node).json === null;
}

/** Whether a slice may be written in a place. */
function fits(slice: Slice, place: Place): boolean {
  if (slice.place === place) return true;
  const style = slice.node === null ? null : attrsOf(slice.node).style;
  if (place === "top") return slice.place === "inner";
  return place === "inner" && slice.place === "top" && (style === "block" || style === "old");
}

function keepsEnds(node: Node, read: Node): boolean {
  if (node.isAtom && !node.isTextblock) return false;
  if (!node.hasMarkup(read.type, read.attrs)) return false;
  // With a caption comes an element: the ends of the slice fit only while it is there or not.
  if (isCaptioned(node)) return (node.childCount === 0) === (read.childCount === 0);
  return kindOf(node).keepsEnds?.(node, read) ?? true;
}

/** What comes between two children that were not neighbours. */
function separator(parent: Node, before: Node, child: Node, place: Place): string {
  const own = kindOf(parent).between?.(before, child, place) ?? null;
  if (own !== null) return own;
  if (kindOf(child).part === "last" || kindOf(before).part === "first") return "";
  return place === "inner" || place === "top" || place === "html" ? "\n\n" : "";
}
