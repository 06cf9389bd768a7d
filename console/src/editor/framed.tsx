/**
 * Blocks with media and an element around their inner blocks.
 *
 * What is around the inside (a picture, an overlay) stays as it is written; only what somebody changes is written again.
 */
import type { Attrs, Node } from "prosemirror-model";
import { t } from "../i18n";
import { Button, Field } from "../ui";
import { type Frame, boxOf, frameOf } from "./boxes";
import { childrenOf } from "./element";
import { delimiters, fullTag, usualTag } from "./generate";
import type { Block } from "./grammar";
import { type Token, attribute, hasClass, insideOf, tokens, withAttributes, withClasses } from "./html";
import { Line } from "./inputs";
import { type BlockProps, type Job, nameOf, type Read } from "./kind";
import { looks, safePicture, shownPicture } from "./looks";
import { attrsOf } from "./schema";
import { box } from "./specs";
import type { Picture } from "./types";
import { View, element, show } from "./views";

/** `before`, `inner`, `after`: markup before the element around the inside, inside its opening tag, and behind it. */
export function framedSpec(kind: string) {
  return box(kind, "block+", { isolating: true, draggable: true }, { before: "", inner: "", after: "" });
}

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

export function framedBlock(kind: string, name: string): Read {
  return (reader, block, place) => {
    const frame = framed(block, name);
    const series = frame === null ? null : childrenOf(reader, frame.pieces, null);
    if (frame === null || series === null) return null;
    return boxOf(reader, kind, block, frame, series, place, { before: frame.before, inner: frame.inner, after: frame.after });
  };
}

export function writeFramed(block: string) {
  return (job: Job) => {
    const { before, inner, after } = job.node.attrs as Record<string, string>;
    return delimiters(job, block, `<div${fullTag(job)}>${before}<div${inner}>${job.inside}</div>${after}</div>`);
  };
}

export function tagOf(node: Node): string {
  return attrsOf(node).tag ?? usualTag(node, false);
}

/** How a kind has its media. */
export interface Media {
  /** The attribute with their markup. */
  place(node: Node): "before" | "after";
  /** Whether another picture can be put in. */
  takesPicture(node: Node): boolean;
  /** Attributes with another picture; null when its address is none that may be shown. */
  withPicture(node: Node, picture: Picture): Attrs | null;
  withAlt(node: Node, alt: string): Attrs;
}

const IMAGE = /<img(?:\s[^<>]*)?>/;

/** The picture as it is written; null where there is none that could be changed. */
export function pictureTag(media: Media, node: Node): string | null {
  return IMAGE.exec(node.attrs[media.place(node)] as string)?.[0] ?? null;
}

export function pictureAlt(media: Media, node: Node): string {
  return attribute(insideOf(pictureTag(media, node) ?? "<img>"), "alt") ?? "";
}

/** Attributes of a block with its picture's tag changed. */
function withImage(media: Media, node: Node, change: (inside: string) => string): Attrs {
  const place = media.place(node);
  const markup = (node.attrs[place] as string).replace(IMAGE, (tag) => `<img${change(insideOf(tag))}/>`);
  return { ...node.attrs, [place]: markup };
}

export function withPictureAlt(media: Media, node: Node, alt: string): Attrs {
  return withImage(media, node, (inside) => withAttributes(inside, { alt }));
}

/** What is written of a picture: its address, size and text, and the class with its number. Null where it may not be shown. */
export function pictureParts(picture: Picture) {
  const large = picture.sizes?.["large"];
  const url = safePicture(large?.url ?? picture.url);
  if (url === null || url === "") return null;
  return { url, size: large === undefined ? undefined : "large", alt: picture.alt ?? "", id: picture.id, classes: picture.id === undefined ? [] : [`wp-image-${picture.id}`] };
}

/** Attributes of a block with another picture, which has such classes: in the place of the one that it has, or where `put` puts it. */
export function withOther(media: Media, node: Node, { url, alt }: { url: string; alt: string }, classes: string[], put: (markup: string) => string): Attrs {
  const place = media.place(node);
  if (pictureTag(media, node) === null) return { ...node.attrs, [place]: put(node.attrs[place] as string) };
  const gone = (name: string) => /^(?:wp-image-\d+|size-[\w-]+)$/.test(name);
  return withImage(media, node, (inside) => withClasses(withAttributes(inside, { src: url, alt, srcset: null }), gone, classes));
}

/** A new block with a picture, or without one. */
export function filled(media: Media, node: Node, picture: Picture | null): Node {
  const attrs = picture === null ? null : media.withPicture(node, picture);
  return attrs === null ? node : node.type.create(attrs, node.content);
}

/** The media, and the blocks over or beside them. */
export class FrameView extends View {
  readonly dom = element("div", "");
  readonly contentDOM = element("div", "editor-inside");
  private readonly body = element("div", "editor-figure");
  private readonly media: Media;
  /** Draws what is of this kind alone; gives what lies over the picture. */
  private readonly more: (node: Node, dom: HTMLElement) => HTMLElement[];

  constructor(node: Node, media: Media, more: (node: Node, dom: HTMLElement) => HTMLElement[]) {
    super(node);
    this.media = media;
    this.more = more;
    this.body.contentEditable = "false";
    show(this.dom, node);
    this.draw();
  }

  protected draw(): void {
    this.dom.style.cssText = looks(attrsOf(this.node).tag)["style"] ?? "";
    this.dom.replaceChildren(...(isRight(this.node) ? [this.contentDOM, this.body] : [this.body, this.contentDOM]));
    const over = this.more(this.node, this.dom);
    const tag = pictureTag(this.media, this.node);
    const shown = shownPicture(attribute(insideOf(tag ?? "<img>"), "src"));
    const name = tag === null ? nameOf(this.node) : pictureAlt(this.media, this.node);
    if (shown === "") return this.body.replaceChildren(element("span", "editor-object-name", name === "" ? nameOf(this.node) : name));
    const image = element("img", "");
    image.src = shown;
    image.alt = name === "" ? t("editor.image_without_alt") : name;
    this.body.replaceChildren(image, ...over);
  }

  ignoreMutation(mutation: { type: string; target: globalThis.Node }): boolean {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }
}

/** Whether the media are behind the text in the markup. */
export function isRight(node: Node): boolean {
  return hasClass(`<div${tagOf(node)}>`, "has-media-on-the-right");
}

/** The picture and its text, among the settings. */
export function MediaSettings({ media, node, set, session, props }: BlockProps & { media: Media }) {
  const pick = props.picture?.pick;
  return (
    <>
      {pick !== undefined && media.takesPicture(node) && (
        <div>
          <Button
            onClick={() =>
              void pick({ many: false }).then(([picture]) => {
                if (picture !== undefined && !session.view.isDestroyed) set(media.withPicture(node, picture));
              })
            }
          >
            {t(pictureTag(media, node) === null ? "editor.picture_choose" : "editor.picture_replace")}
          </Button>
        </div>
      )}
      {pictureTag(media, node) !== null && (
        <Field label={t("editor.alt")} help={t("editor.alt_hint")}>
          {(ids) => <Line ids={ids} value={pictureAlt(media, node)} onText={(alt) => set(media.withAlt(node, alt))} />}
        </Field>
      )}
    </>
  );
}

