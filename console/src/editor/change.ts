/**
 * Alignments: attributes of the delimiter and classes change together, as WordPress's own editor changes them. What is not concerned
 * stays as it is written.
 */
import type { Attrs, Node } from "prosemirror-model";
import { isWrittenPlain, usualTag } from "./generate";
import { jsonWith } from "./grammar";
import { withAttributes, withClasses } from "./html";
import { type Align, kindOf } from "./kind";
import { alignment } from "./looks";
import { attrsOf } from "./schema";

/** Alignments of text, and of what stands in the text as a box. */
export const OF_TEXT: readonly Align[] = ["left", "center", "right"];
export const OF_BOX: readonly Align[] = [...OF_TEXT, "wide", "full"];
export const WIDE: readonly Align[] = ["wide", "full"];

/** Alignments that a node can have. */
export function alignments(node: Node): readonly Align[] {
  return kindOf(node).aligns ?? [];
}

export function alignOf(node: Node): Align | null {
  // The document itself has no tag.
  const tag = attrsOf(node).tag ?? null;
  return tag === null ? null : (alignment(tag) as Align | null);
}

function isAlignment(name: string): boolean {
  return /^(?:has-text-align-|align)(?:left|center|right|wide|full|none)$/.test(name);
}

/** Attributes of a node with another alignment. */
export function aligned(node: Node, align: Align | null, classic: boolean): Attrs {
  const { json, style } = attrsOf(node);
  const tag = attrsOf(node).tag ?? usualTag(node, classic);
  const { textAlign, aligned: own } = kindOf(node);
  if (own !== undefined) return { ...node.attrs, ...own(node, tag, align) };
  if (textAlign === undefined) return { ...node.attrs, ...boxAligned(node, tag, align) };
  if (isWrittenPlain(node, classic)) return { ...node.attrs, ...plainAligned(tag, align, style) };
  return { ...node.attrs, json: jsonWith(json, { [textAlign]: align ?? undefined }), tag: textTag(tag, align) };
}

/** The inside of a tag whose text is aligned. */
export function textTag(tag: string, align: Align | null): string {
  return withClasses(tag, isAlignment, align === null ? [] : [`has-text-align-${align}`]);
}

/** The attributes of a box that is aligned, with classes of its own. */
export function boxAligned(node: Node, tag: string, align: Align | null, own: string[] = []): Attrs {
  const classes = align === null ? own : [...own, `align${align}`];
  return { json: jsonWith(attrsOf(node).json, { align: align ?? undefined }), tag: withClasses(tag, isAlignment, classes) };
}

/** Without delimiters a style says it. */
function plainAligned(tag: string, align: Align | null, style: string | null) {
  const without = withClasses(tag, (name) => name.startsWith("has-text-align-"), []);
  const now = /style\s*=\s*("|')([\s\S]*?)\1/i.exec(without)?.[2] ?? "";
  const rest = now.replace(/(?:^|;)\s*text-align\s*:[^;]*/gi, "").replace(/^\s*;/, "");
  const all = [rest.trim().replace(/;$/, ""), align === null ? "" : `text-align: ${align}`].filter((part) => part !== "").join("; ");
  const changed = withAttributes(without, { style: all === "" ? null : `${all};`, align: null });
  return { tag: changed === "" ? null : changed, style: style === "bare" && changed !== "" ? "html" : style };
}
