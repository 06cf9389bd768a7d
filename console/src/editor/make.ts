/**
 * New nodes, with the attributes and classes that WordPress's own editor gives to a new block.
 */
import type { Node } from "prosemirror-model";
import { writeJson } from "./grammar";
import { decoded, escapedText, escapedValue } from "./html";
import { safeAddress, safePicture } from "./looks";
import { schema } from "./schema";
import { withPicture } from "./settings";
import type { FileItem, Picture } from "./types";

function text(content: string): Node[] {
  return content === "" ? [] : [schema.text(content)];
}

function paragraph(content = ""): Node {
  return schema.node("paragraph", null, text(content));
}

/** The size that is put into a text, and its name. */
function sizeOf(picture: Picture): { url: string; slug: string } {
  const large = picture.sizes?.["large"];
  return large === undefined ? { url: picture.url, slug: "full" } : { url: large.url, slug: "large" };
}

/** A picture; null when its address is none that may be shown. */
export function makeImage(picture: Picture): Node | null {
  const { url, slug } = sizeOf(picture);
  const safe = safePicture(url);
  if (safe === null || safe === "") return null;
  const id = picture.id === undefined ? {} : { id: picture.id };
  const kind = picture.id === undefined ? "" : ` class="wp-image-${picture.id}"`;
  const attrs = {
    json: writeJson({ ...id, sizeSlug: slug, linkDestination: "none" }),
    tag: ` class="wp-block-image size-${slug}"`,
    img: `<img src="${escapedValue(safe)}" alt="${escapedValue(picture.alt ?? "")}"${kind}/>`,
  };
  return schema.node("image", attrs, text(plainCaption(picture.caption ?? "")));
}

/** The text of a caption, which may come as HTML. */
function plainCaption(caption: string): string {
  return decoded(caption.replace(/<[^>]*>/g, ""))
    .replace(/\s+/g, " ")
    .trim();
}

export function makeGallery(pictures: Picture[]): Node | null {
  const images = pictures.map(makeImage).filter((node) => node !== null);
  if (images.length === 0) return null;
  return schema.node("gallery", { json: writeJson({ linkTo: "none" }) }, images);
}

/** Providers whose pages WordPress embeds, by a part of their address. */
const PROVIDERS: [RegExp, string, string][] = [
  [/^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i, "youtube", "video"],
  [/^https?:\/\/(?:www\.|player\.)?vimeo\.com\//i, "vimeo", "video"],
  [/^https?:\/\/(?:www\.)?dailymotion\.com\//i, "dailymotion", "video"],
  [/^https?:\/\/(?:www\.)?ted\.com\//i, "ted", "video"],
  [/^https?:\/\/(?:www\.)?(?:twitter|x)\.com\//i, "twitter", "rich"],
  [/^https?:\/\/bsky\.app\//i, "bluesky", "rich"],
  [/^https?:\/\/open\.spotify\.com\//i, "spotify", "rich"],
  [/^https?:\/\/(?:www\.)?soundcloud\.com\//i, "soundcloud", "rich"],
  [/^https?:\/\/(?:www\.)?flickr\.com\//i, "flickr", "photo"],
];

/** What is at an address, shown by the front end. */
export function makeEmbed(address: string): Node | null {
  const url = safeAddress(address);
  if (url === null || !/^https?:\/\/\S+$/i.test(url)) return null;
  const provider = PROVIDERS.find(([pattern]) => pattern.test(url));
  if (provider === undefined) return schema.node("embed", { url, json: writeJson({ url }) });
  const [, slug, type] = provider;
  const wide = type === "video" ? "wp-embed-aspect-16-9 wp-has-aspect-ratio" : null;
  const json = { url, type, providerNameSlug: slug, ...(wide === null ? { responsive: true } : { responsive: true, className: wide }) };
  const classes = ["wp-block-embed", `is-type-${type}`, `is-provider-${slug}`, `wp-block-embed-${slug}`, ...(wide === null ? [] : [wide])];
  return schema.node("embed", { url, json: writeJson(json), tag: ` class="${classes.join(" ")}"` });
}

/** A file by its type: a picture, a player or a link to download. */
export function makeFile(file: FileItem, download: string): Node | null {
  const url = safePicture(file.url);
  if (url === null || url === "") return null;
  const picture = { url, alt: "", ...(file.id === undefined ? {} : { id: file.id }) };
  if (file.mime.startsWith("image/")) return makeImage(picture);
  const id = file.id === undefined ? {} : { id: file.id };
  const kind = /^(audio|video)\//.exec(file.mime)?.[1];
  const src = escapedValue(url);
  if (kind !== undefined) {
    return schema.node("player", { kind, json: writeJson(id), media: `<${kind} controls src="${src}"></${kind}>` });
  }
  const source =
    `<div class="wp-block-file"><a href="${src}">${escapedText(file.name)}</a>` +
    `<a href="${src}" class="wp-block-file__button wp-element-button" download>${escapedText(download)}</a></div>`;
  return schema.node("file", { json: writeJson({ ...id, href: url }), source });
}

export function makeTable(rows: number, columns: number, head: boolean): Node {
  const cell = (kind: string) => schema.node(kind);
  const row = (section: string) =>
    schema.node("table_row", { section }, Array.from({ length: columns }, () => cell(section === "head" ? "table_header" : "table_cell")));
  const all = Array.from({ length: rows }, (_, index) => row(head && index === 0 ? "head" : "body"));
  return schema.node("table_figure", null, [schema.node("table", null, all)]);
}

export function makeColumns(count: number): Node {
  return schema.node("columns", null, Array.from({ length: count }, () => schema.node("column", null, [paragraph()])));
}

/** A cover: a picture with text over it. */
export function makeCover(picture: Picture | null): Node {
  const empty = schema.node(
    "cover",
    {
      json: '{"dimRatio":50,"layout":{"type":"constrained"}}',
      before: '<span aria-hidden="true" class="wp-block-cover__background has-background-dim"></span>',
      inner: ' class="wp-block-cover__inner-container"',
    },
    [paragraph()],
  );
  return filled(empty, picture);
}

/** A picture and text, side by side. */
export function makeMediaText(picture: Picture | null): Node {
  const empty = schema.node("media_text", { before: '<figure class="wp-block-media-text__media"></figure>', inner: ' class="wp-block-media-text__content"' }, [paragraph()]);
  return filled(empty, picture);
}

function filled(node: Node, picture: Picture | null): Node {
  const attrs = picture === null ? null : withPicture(node, picture);
  return attrs === null ? node : node.type.create(attrs, node.content);
}

export function makeReusable(id: number): Node {
  return schema.node("reusable", { json: writeJson({ ref: id }) });
}

export function makeRaw(name: "core/html" | "core/shortcode", source: string): Node {
  return schema.node("raw", { name, source });
}

/** Simple new nodes by name. */
export function makeSimple(kind: string): Node {
  switch (kind) {
    case "list":
    case "ordered_list":
      return schema.node("list", { ordered: kind === "ordered_list" }, [schema.node("list_item", null, [paragraph()])]);
    case "quote":
      return schema.node("quote", null, [paragraph(), schema.node("cite")]);
    case "pullquote":
      return schema.node("pullquote", null, [paragraph(), schema.node("cite")]);
    case "group":
      return schema.node("group", { json: '{"layout":{"type":"constrained"}}' }, [paragraph()]);
    case "details":
      return schema.node("details", null, [schema.node("summary"), paragraph()]);
    case "buttons":
      return schema.node("buttons", null, [schema.node("button")]);
    default:
      return schema.node(kind);
  }
}
