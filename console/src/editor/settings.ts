/**
 * Changes of frames: the picture of a cover or beside a text, widths, sides, what is unfolded at first.
 *
 * Attributes of the delimiter and markup change together, as WordPress's own editor changes them; the rest stays as it is written.
 */
import type { Node } from "prosemirror-model";
import type { EditorState } from "prosemirror-state";
import { OVERLAY, coloursOf, isCurrent } from "./colours";
import { around } from "./commands";
import { jsonWith, usualTag } from "./generate";
import { readJson } from "./grammar";
import { attribute, escapedValue, hasClass, insideOf, withAttributes, withClasses, withStyle } from "./html";
import { safePicture } from "./looks";
import { attrsOf } from "./schema";
import type { Picture } from "./types";

const FRAMES = new Set(["cover", "media_text", "details", "column"]);

/** Blocks around the selection that have something to set, the innermost first. */
export function settable(state: EditorState): { node: Node; pos: number }[] {
  const classic = state.doc.attrs["classic"] === true;
  return [...around(state)].filter(({ node }) => node.isBlock && ((FRAMES.has(node.type.name) && isCurrent(node)) || coloursOf(node, classic).length > 0));
}

const IMAGE = /<img(?:\s[^<>]*)?>/;

function tagOf(node: Node): string {
  return attrsOf(node).tag ?? usualTag(node, false);
}

/** Whether the media of a block are behind its text in the markup. */
export function isRight(node: Node): boolean {
  return hasClass(`<div${tagOf(node)}>`, "has-media-on-the-right");
}

/** The attribute that has the markup of the media. */
function mediaAttribute(node: Node): "before" | "after" {
  return (node.attrs["before"] as string).includes("<figure") || node.type.name === "cover" ? "before" : "after";
}

/** The picture of a cover or beside a text, as it is written; null where there is none that could be changed. */
export function pictureTag(node: Node): string | null {
  return IMAGE.exec(node.attrs[mediaAttribute(node)] as string)?.[0] ?? null;
}

export function pictureAlt(node: Node): string {
  return attribute(insideOf(pictureTag(node) ?? "<img>"), "alt") ?? "";
}

/** Attributes of a block with its picture's tag changed. */
function withTag(node: Node, change: (inside: string) => string): Record<string, unknown> {
  const place = mediaAttribute(node);
  const markup = (node.attrs[place] as string).replace(IMAGE, (tag) => `<img${change(insideOf(tag))}/>`);
  return { ...node.attrs, [place]: markup };
}

export function withPictureAlt(node: Node, alt: string): Record<string, unknown> {
  const attrs = withTag(node, (inside) => withAttributes(inside, { alt }));
  return node.type.name === "cover" ? { ...attrs, json: jsonWith(attrsOf(node).json, { alt: alt === "" ? undefined : alt }) } : attrs;
}

/** Whether another picture can be put in: a film or a picture that does not move with the page stays. */
export function takesPicture(node: Node): boolean {
  if (!isCurrent(node)) return false;
  const markup = node.attrs[mediaAttribute(node)] as string;
  if (node.type.name === "cover") return pictureTag(node) !== null || !/wp-block-cover__(?:image|video|embed)-background/.test(markup);
  return !/<(?:video|a)[\s>]/.test(markup);
}

/** Attributes of a block with another picture; null when its address is none that may be shown. */
export function withPicture(node: Node, picture: Picture): Record<string, unknown> | null {
  const large = picture.sizes?.["large"];
  const url = safePicture(large?.url ?? picture.url);
  if (url === null || url === "" || !takesPicture(node)) return null;
  const size = large === undefined ? "full" : "large";
  const alt = picture.alt ?? "";
  const id = picture.id === undefined ? [] : [`wp-image-${picture.id}`];
  const gone = (name: string) => /^(?:wp-image-\d+|size-[\w-]+)$/.test(name);
  const sized = (inside: string, classes: string[]) => withClasses(withAttributes(inside, { src: url, alt, srcset: null }), gone, classes);
  const { json } = attrsOf(node);
  if (node.type.name === "cover") {
    const classes = [...id, ...(large === undefined ? [] : ["size-large"])];
    const whole = `<img class="${["wp-block-cover__image-background", ...classes].join(" ")}" alt="${escapedValue(alt)}" src="${escapedValue(url)}" data-object-fit="cover"/>`;
    const changes = { url, id: picture.id, alt: alt === "" ? undefined : alt, sizeSlug: large === undefined ? undefined : size, useFeaturedImage: undefined };
    const attrs = pictureTag(node) === null ? { ...node.attrs, before: whole + (node.attrs["before"] as string) } : withTag(node, (inside) => sized(inside, classes));
    return { ...attrs, json: jsonWith(json, changes) };
  }
  const place = mediaAttribute(node);
  // Pictures of elsewhere have no sizes.
  const classes = picture.id === undefined ? [] : [...id, `size-${size}`];
  const whole = `<img${withClasses(` src="${escapedValue(url)}" alt="${escapedValue(alt)}"`, () => false, classes)}/>`;
  const figure = (node.attrs[place] as string).replace(/(<figure[^<>]*>)[\s\S]*(<\/figure>)/, (_, open: string, close: string) => open + whole + close);
  const attrs = pictureTag(node) === null ? { ...node.attrs, [place]: figure } : withTag(node, (inside) => sized(inside, classes));
  const changes = { mediaId: picture.id, mediaLink: undefined, mediaType: "image", mediaSizeSlug: large === undefined || picture.id === undefined ? undefined : size };
  return { ...attrs, json: jsonWith(json, changes) };
}

/** How much of a cover's picture its overlay hides, in per cent; null where it has no overlay. */
export function dimOf(node: Node): number | null {
  if (!OVERLAY.test(node.attrs["before"] as string)) return null;
  const told = readJson(attrsOf(node).json)?.["dimRatio"];
  return typeof told === "number" ? told : 100;
}

export function withDim(node: Node, ratio: number): Record<string, unknown> {
  const steps = 10 * Math.round(ratio / 10);
  // Half is what the class alone says.
  const classes = ratio === 50 ? ["has-background-dim"] : [`has-background-dim-${steps}`, "has-background-dim"];
  const before = (node.attrs["before"] as string).replace(
    OVERLAY,
    (_, inside: string) => `<span${withClasses(inside, (name) => /^has-background-dim(?:-\d+)?$/.test(name), classes)}>`,
  );
  return { ...node.attrs, before, json: jsonWith(attrsOf(node).json, { dimRatio: ratio === 100 ? undefined : ratio }) };
}

/** Attributes of a text with its media on a side. */
export function withSide(node: Node, right: boolean): Record<string, unknown> {
  if (right === isRight(node)) return node.attrs;
  const { before, after } = node.attrs as Record<string, string>;
  const tag = withClasses(tagOf(node), (name) => name === "has-media-on-the-right", right ? ["has-media-on-the-right"] : []);
  const width = mediaWidth(node);
  const json = jsonWith(attrsOf(node).json, { mediaPosition: right ? "right" : undefined });
  return { ...node.attrs, before: after, after: before, tag: withStyle(tag, { "grid-template-columns": tracks(width, right) }), json };
}

/** The width of media beside a text, in per cent. */
export function mediaWidth(node: Node): number {
  const told = readJson(attrsOf(node).json)?.["mediaWidth"];
  return typeof told === "number" ? told : HALF;
}

const HALF = 50;

function tracks(width: number, right: boolean): string | null {
  if (width === HALF) return null;
  return right ? `auto ${width}%` : `${width}% auto`;
}

export function withMediaWidth(node: Node, width: number): Record<string, unknown> {
  const tag = withStyle(tagOf(node), { "grid-template-columns": tracks(width, isRight(node)) });
  return { ...node.attrs, tag, json: jsonWith(attrsOf(node).json, { mediaWidth: width === HALF ? undefined : width }) };
}

/** Whether details are unfolded at first. */
export function isUnfolded(node: Node): boolean {
  return attribute(tagOf(node), "open") !== null;
}

export function withUnfolded(node: Node, open: boolean): Record<string, unknown> {
  return { ...node.attrs, tag: withAttributes(tagOf(node), { open: open ? "" : null }), json: jsonWith(attrsOf(node).json, { showContent: open ? true : undefined }) };
}

/** The width of a column in per cent; null where it has its share, or a width in another unit. */
export function columnWidth(node: Node): number | null {
  const told = readJson(attrsOf(node).json)?.["width"];
  const found = typeof told === "number" ? String(told) : typeof told === "string" ? /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(told)?.[1] : undefined;
  return found === undefined ? null : Number(found);
}

export function withColumnWidth(node: Node, width: number | null): Record<string, unknown> {
  const text = width === null ? null : `${width}%`;
  return { ...node.attrs, tag: withStyle(tagOf(node), { "flex-basis": text }), json: jsonWith(attrsOf(node).json, { width: text ?? undefined }) };
}
