/** Covers: a picture with text over it. */
import type { Attrs, Node } from "prosemirror-model";
import { textsOf } from "../../i18n";
import { OF_BOX } from "../change";
import { colourOf } from "../colours";
import { FrameView, MediaSettings, type Media, filled, framedBlock, framedSpec, pictureParts, pictureTag, withOther, withPictureAlt, writeFramed } from "../framed";
import { jsonWith, readJson } from "../grammar";
import { escapedValue, withClasses } from "../html";
import { Percent } from "../inputs";
import type { BlockProps, Kinds } from "../kind";
import { namedColour } from "../looks";
import { attrsOf, schema } from "../schema";
import type { Picture } from "../types";
import { element } from "../views";

const say = textsOf({ en: { cover: "Cover", dim: "Overlay opacity in percent" }, de: { cover: "Cover", dim: "Deckkraft der Überlagerung in Prozent" } });
const label = () => say("cover");

/** The element that lies over the picture. */
const OVERLAY = /<span(\s[^<>]*class="[^"]*wp-block-cover__background[^"]*"[^<>]*)>/;
const hasOverlay = (node: Node) => OVERLAY.test(node.attrs["before"] as string);

/** Attributes with the inside of the overlay's tag changed. */
function withOverlay(node: Node, change: (inside: string) => string): Attrs {
  return { ...node.attrs, before: (node.attrs["before"] as string).replace(OVERLAY, (_, inside: string) => `<span${change(inside)}>`) };
}

/** How much of the picture the overlay hides, in percent; null where there is no overlay. */
export function dimOf(node: Node): number | null {
  if (!hasOverlay(node)) return null;
  const told = readJson(attrsOf(node).json)?.["dimRatio"];
  return typeof told === "number" ? told : 100;
}

export function withDim(node: Node, ratio: number): Attrs {
  // Half is what the class alone says.
  const classes = ratio === 50 ? ["has-background-dim"] : [`has-background-dim-${10 * Math.round(ratio / 10)}`, "has-background-dim"];
  const attrs = withOverlay(node, (inside) => withClasses(inside, (name) => /^has-background-dim(?:-\d+)?$/.test(name), classes));
  return { ...attrs, json: jsonWith(attrsOf(node).json, { dimRatio: ratio === 100 ? undefined : ratio }) };
}

export const media: Media = {
  place: () => "before",
  // A film, or a picture that does not move with the page, stays.
  takesPicture: (node) => hasOverlay(node) && (pictureTag(media, node) !== null || !/wp-block-cover__(?:image|video|embed)-background/.test(node.attrs["before"] as string)),
  withPicture(node, picture) {
    const parts = pictureParts(picture);
    if (parts === null || !media.takesPicture(node)) return null;
    const { url, id, size, alt } = parts;
    const classes = [...parts.classes, ...(size === undefined ? [] : [`size-${size}`])];
    const all = ["wp-block-cover__image-background", ...classes].join(" ");
    const attrs = withOther(media, node, parts, classes, (before) => `<img class="${all}" alt="${escapedValue(alt)}" src="${escapedValue(url)}" data-object-fit="cover"/>${before}`);
    return { ...attrs, json: jsonWith(attrsOf(node).json, { url, id, alt: alt === "" ? undefined : alt, sizeSlug: size, useFeaturedImage: undefined }) };
  },
  withAlt: (node, alt) => ({ ...withPictureAlt(media, node, alt), json: jsonWith(attrsOf(node).json, { alt: alt === "" ? undefined : alt }) }),
};

export function makeCover(picture: Picture | null): Node {
  const attrs = {
    json: '{"dimRatio":50,"layout":{"type":"constrained"}}',
    before: '<span aria-hidden="true" class="wp-block-cover__background has-background-dim"></span>',
    inner: ' class="wp-block-cover__inner-container"',
  };
  return filled(media, schema.node("cover", attrs, [schema.node("paragraph")]), picture);
}

/** What lies over the picture. */
function overlay(node: Node): HTMLElement[] {
  const dim = dimOf(node);
  if (dim === null) return [];
  const colour = colourOf(node, "overlay");
  const over = element("div", "editor-overlay");
  over.style.backgroundColor = colour === null ? "" : "slug" in colour ? (namedColour(colour.slug) ?? "") : colour.value;
  if (over.style.backgroundColor === "") over.style.backgroundColor = "black";
  over.style.opacity = String(dim / 100);
  return [over];
}

function CoverSettings(props: BlockProps) {
  const dim = dimOf(props.node);
  return (
    <>
      <MediaSettings {...props} media={media} />
      {dim !== null && <Percent label={say("dim")} value={dim} onChange={(ratio) => props.set(withDim(props.node, ratio ?? 100))} />}
    </>
  );
}

export default {
  cover: {
    order: 270,
    spec: framedSpec("cover"),
    label,
    read: { "core/cover": framedBlock("cover", "wp-block-cover__inner-container") },
    write: writeFramed("core/cover"),
    usual: "wp-block-cover",
    view: (node) => new FrameView(node, media, overlay),
    figure: true,
    aligns: OF_BOX,
    isCurrent: hasOverlay,
    colours: () => ["overlay"],
    withTag: withOverlay,
    Settings: CoverSettings,
    insert: [
      {
        label,
        icon: "image",
        order: 160,
        words: "hero banner header titelbild",
        run: (session, { picture }) => session.insertChosen(picture?.pick?.({ many: false }), ([one]) => makeCover(one ?? null)),
      },
    ],
  },
} satisfies Kinds;
