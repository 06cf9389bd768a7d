/**
 * Specs of nodes that several kinds share: a text, a box around other blocks, an object.
 */
import type { AttributeSpec, NodeSpec } from "prosemirror-model";
import { looks } from "./looks";
import { attrsOf, common } from "./schema";

/** Attributes with these values where nothing else is said. */
function defaults(values: Record<string, unknown>): Record<string, AttributeSpec> {
  return { ...common, ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { default: value }])) };
}

export function text(tag: string, more: Partial<NodeSpec> = {}, attrs: Record<string, unknown> = {}): NodeSpec {
  return {
    content: "inline*",
    group: "block",
    defining: true,
    attrs: defaults(attrs),
    parseDOM: [{ tag }],
    toDOM: (node) => [tag, looks(attrsOf(node).tag), 0],
    ...more,
  };
}

/** A figure whose text is its caption. */
export function figure(kind: string, attrs: Record<string, unknown>, more: Partial<NodeSpec> = {}): NodeSpec {
  const toDOM: NodeSpec["toDOM"] = () => ["figure", { "data-kind": kind }, ["figcaption", 0]];
  return text("figure", { parseDOM: [], draggable: true, isolating: true, toDOM, ...more }, { ...attrs, cap: null });
}

export function box(kind: string, content: string, more: Partial<NodeSpec> = {}, attrs: Record<string, unknown> = {}): NodeSpec {
  return {
    content,
    group: "block",
    defining: true,
    attrs: defaults(attrs),
    toDOM: (node) => ["div", { "data-kind": kind, ...looks(attrsOf(node).tag) }, 0],
    ...more,
  };
}

/** One object without an inside that can be typed in. */
export function object(kind: string, attrs: Record<string, unknown> = {}): NodeSpec {
  return {
    group: "block",
    atom: true,
    selectable: true,
    draggable: true,
    attrs: defaults(attrs),
    toDOM: () => ["div", { "data-kind": kind }],
  };
}
