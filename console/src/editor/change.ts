/**
 * Changes of a block's look: its attributes and its classes together, as WordPress's own editor changes them.
 *
 * What is not concerned stays as it is written.
 */
import type { Node } from "prosemirror-model";
import { jsonWith, usualTag } from "./generate";
import { hasClass, insideOf, withAttributes, withClasses } from "./html";
import { alignment, safeAddress } from "./looks";
import { attrsOf } from "./schema";

export type Align = "left" | "center" | "right" | "wide" | "full";

/** The attribute that says how text is aligned. */
const TEXT: Record<string, string> = { paragraph: "align", heading: "textAlign", verse: "textAlign", quote: "textAlign", pullquote: "textAlign" };
/** Alignments of what stands in the text as a box. */
const BOXES: Record<string, Align[]> = {
  image: ["left", "center", "right", "wide", "full"],
  gallery: ["left", "center", "right", "wide", "full"],
  table_figure: ["left", "center", "right", "wide", "full"],
  embed: ["left", "center", "right", "wide", "full"],
  player: ["left", "center", "right", "wide", "full"],
  columns: ["wide", "full"],
  group: ["wide", "full"],
  buttons: ["wide", "full"],
  cover: ["left", "center", "right", "wide", "full"],
  media_text: ["wide", "full"],
  details: ["wide", "full"],
};

/** Alignments that a node can have. */
export function alignments(node: Node): Align[] {
  if (node.type.name in TEXT) return ["left", "center", "right"];
  if (node.type.name === "table_cell" || node.type.name === "table_header") return ["left", "center", "right"];
  return BOXES[node.type.name] ?? [];
}

export function alignOf(node: Node): Align | null {
  // The document itself has no tag.
  const tag = attrsOf(node).tag ?? null;
  return tag === null ? null : (alignment(tag) as Align | null);
}

/** Attributes of a node with another alignment. */
export function aligned(node: Node, align: Align | null, classic: boolean): Record<string, unknown> {
  const { json, style } = attrsOf(node);
  const tag = attrsOf(node).tag ?? usualTag(node, classic);
  const gone = (name: string) => /^(?:has-text-align-|align)(?:left|center|right|wide|full|none)$/.test(name);
  const kind = node.type.name;
  if (kind === "table_cell" || kind === "table_header") {
    const classes = withClasses(tag, gone, align === null ? [] : [`has-text-align-${align}`]);
    return { ...node.attrs, tag: withAttributes(classes, { "data-align": align }) };
  }
  const plain = style === "html" || style === "bare" || (style === null && classic);
  if (plain && kind in TEXT) return { ...node.attrs, ...plainAligned(tag, align, style) };
  if (kind in TEXT) {
    const changes = { [TEXT[kind] as string]: align ?? undefined };
    return { ...node.attrs, json: jsonWith(json, changes), tag: withClasses(tag, gone, align === null ? [] : [`has-text-align-${align}`]) };
  }
  const own = kind === "image" && !hasClass(tag, "wp-block-image") ? ["wp-block-image"] : [];
  const attrs = { json: jsonWith(json, { align: align ?? undefined }), tag: withClasses(tag, gone, align === null ? own : [...own, `align${align}`]) };
  return kind === "image" ? { ...node.attrs, ...attrs, outer: null } : { ...node.attrs, ...attrs };
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

/** Attributes of a picture with another text for those who do not see it. */
export function withAlt(node: Node, alt: string): Record<string, unknown> {
  return { ...node.attrs, img: imageTag(node, { alt }) };
}

/** Attributes of a picture that leads somewhere; null for nowhere. */
export function withImageLink(node: Node, href: string | null): Record<string, unknown> {
  const safe = href === null || href === "" ? null : safeAddress(href);
  const old = node.attrs["link"] as string | null;
  const link = safe === null ? null : `<a${withAttributes(old === null ? "" : insideOf(old), { href: safe })}>`;
  const json = jsonWith(attrsOf(node).json, { linkDestination: safe === null ? "none" : "custom" });
  return { ...node.attrs, link, json };
}

/** Attributes of a picture of a width in pixels; null for its own. */
export function withWidth(node: Node, width: number | null): Record<string, unknown> {
  const tag = attrsOf(node).tag ?? usualTag(node, false);
  const json = jsonWith(attrsOf(node).json, { width: width === null ? undefined : `${width}px`, height: undefined });
  const img = imageTag(node, { style: width === null ? null : `width:${width}px`, width: null, height: null });
  return { ...node.attrs, json, img, tag: withClasses(tag, (name) => name === "is-resized", width === null ? [] : ["is-resized"]) };
}

function imageTag(node: Node, changes: Record<string, string | null>): string {
  return `<img${withAttributes(insideOf(node.attrs["img"] as string), changes)}/>`;
}

/** Attributes of a button that leads somewhere. */
export function withButtonLink(node: Node, href: string): Record<string, unknown> {
  const old = (node.attrs["link"] as string | null) ?? '<a class="wp-block-button__link wp-element-button">';
  const safe = safeAddress(href);
  return { ...node.attrs, link: `<a${withAttributes(insideOf(old), { href: safe === "" ? null : safe })}>` };
}

/** Attributes of a list that begins with a number, or counts down. */
export function withNumbers(node: Node, changes: { start?: number | null; reversed?: boolean }): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const written: Record<string, string | null> = {};
  if (changes.start !== undefined) {
    values["start"] = changes.start ?? undefined;
    written["start"] = changes.start === null ? null : String(changes.start);
  }
  if (changes.reversed !== undefined) {
    values["reversed"] = changes.reversed ? true : undefined;
    written["reversed"] = changes.reversed ? "" : null;
  }
  const tag = attrsOf(node).tag ?? usualTag(node, false);
  return { ...node.attrs, json: jsonWith(attrsOf(node).json, values), tag: withAttributes(tag, written) };
}
