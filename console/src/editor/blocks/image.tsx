/** Images. */
import type { Attrs, DOMOutputSpec, Node } from "prosemirror-model";
import { useState } from "preact/hooks";
import { t, textsOf } from "../../i18n";
import { announce, Button, toast } from "../../ui";
import { OF_BOX, boxAligned } from "../change";
import { setAttrs } from "../commands";
import { type Element, elementOf, onlyText } from "../element";
import { captioned } from "../figures";
import { delimiters, figcaption, fullTag, usualTag } from "../generate";
import { jsonWith, writeJson } from "../grammar";
import { type Token, attribute, decoded, escapedValue, hasClass, insideOf, tokens, withAttributes, withClasses } from "../html";
import { PanelText } from "../inputs";
import type { BlockProps, Job, Kinds, Read, ReadElement } from "../kind";
import { looks, safeAddress, safePicture, shownPicture } from "../looks";
import type { Reader } from "../read";
import { attrsOf, schema } from "../schema";
import type { Session } from "../session";
import type { Place } from "../slices";
import { figure } from "../specs";
import type { EditorProps, Picture } from "../types";
import { Figure, element } from "../views";

const say = textsOf({
  en: {
    image: "Image", link: "Link to", width: "Width in pixels", copy: "Upload to the media library",
    copy_hint: "The image is on another site, which may remove it.", copied: "The image is in the media library.",
  },
  de: {
    image: "Bild", link: "Link zu", width: "Breite in Pixeln", copy: "In die Mediathek hochladen",
    copy_hint: "Das Bild liegt auf einer anderen Website, die es entfernen kann.", copied: "Das Bild ist in der Mediathek.",
  },
});
const label = () => say("image");

/** The inside of the tag of the picture. */
const insideOfImage = (node: Node) => insideOf(node.attrs["img"] as string);

/* ---- reading and writing */

/** The picture of a figure, with the link around it. */
function pictureOf(html: string): { link: string | null; img: string } | null {
  const all = tokens(html).filter((token) => token.kind !== "text" || token.raw.trim() !== "");
  const is = (token: Token | undefined, kind: string, name: string) => token?.kind === kind && token.name === name;
  if (all.length === 1 && is(all[0], "open", "img")) return { link: null, img: (all[0] as Token).raw };
  if (all.length === 3 && is(all[0], "open", "a") && is(all[1], "open", "img") && is(all[2], "close", "a")) {
    return { link: (all[0] as Token).raw, img: (all[1] as Token).raw };
  }
  return null;
}

/** A picture from its figure. `around` is what comes before and behind the figure. */
export function imageOf(
  reader: Reader,
  figure: Element,
  around: { head: string; tail: string; outer: string | null; json: string | null; place: Place; style?: string },
): Node | null {
  const parts = captioned(figure.inside);
  const picture = parts === null ? null : pictureOf(parts.body);
  if (parts === null || picture === null) return null;
  const attrs = { style: around.style ?? "block", json: around.json, tag: figure.tag ?? "", outer: around.outer, ...picture, cap: parts.cap };
  return reader.make(
    { head: around.head + figure.head + parts.head, inside: parts.inside, tail: parts.tail + figure.tail + around.tail, place: around.place },
    (slice) => schema.node("image", { slice, ...attrs }, parts.content),
  );
}

const readImage: Read = (reader, block, place) => {
  const text = onlyText(block);
  const found = text === null ? null : elementOf(text);
  if (found === null) return null;
  const close = block.close ?? "";
  if (found.name === "figure") return imageOf(reader, found, { head: block.open, tail: close, outer: null, json: block.json, place });
  const figure = found.name === "div" ? elementOf(found.inside) : null;
  if (figure?.name !== "figure") return null;
  const around = { head: block.open + found.head, tail: found.tail + close, outer: `<div${found.tag ?? ""}>`, json: block.json, place };
  return imageOf(reader, figure, around);
};

const readPlain: ReadElement = (reader, text, _, place) => {
  const found = elementOf(text);
  return found === null ? null : imageOf(reader, found, { head: "", tail: "", outer: null, json: null, style: "html", place });
};

function write(job: Job): string {
  const { node, place, style } = job;
  const { outer, link, img } = node.attrs as Record<string, string | null>;
  const picture = link === null ? img : `${link}${img}</a>`;
  // In a gallery of before WordPress 5.9.
  if (place === "flow") {
    return `<li class="blocks-gallery-item"><figure${attrsOf(node).tag ?? ""}>${picture}${figcaption(job, "blocks-gallery-item__caption")}</figure></li>`;
  }
  if (style === "html" && node.childCount === 0) return picture ?? "";
  // Images of before WordPress 6.1 have captions without a class, and the editor knows them by that.
  const old = outer !== null || attribute(insideOfImage(node), "width") !== null;
  const html = `<figure${fullTag(job)}>${picture}${figcaption(job, old ? "" : undefined)}</figure>`;
  return delimiters(job, "core/image", outer === null ? html : `${outer}${html}</div>`);
}

/* ---- changes */

/** Attributes of a picture with another text for those who do not see it. */
export function withAlt(node: Node, alt: string): Attrs {
  return { ...node.attrs, img: imageTag(node, { alt }) };
}

/** Attributes of a picture that leads somewhere; null for nowhere. */
export function withImageLink(node: Node, href: string | null): Attrs {
  const safe = href === null || href === "" ? null : safeAddress(href);
  const old = node.attrs["link"] as string | null;
  const link = safe === null ? null : `<a${withAttributes(old === null ? "" : insideOf(old), { href: safe })}>`;
  const json = jsonWith(attrsOf(node).json, { linkDestination: safe === null ? "none" : "custom" });
  return { ...node.attrs, link, json };
}

/** Attributes of a picture of a width in pixels; null for its own. */
export function withWidth(node: Node, width: number | null): Attrs {
  const tag = attrsOf(node).tag ?? usualTag(node, false);
  const json = jsonWith(attrsOf(node).json, { width: width === null ? undefined : `${width}px`, height: undefined });
  const img = imageTag(node, { style: width === null ? null : `width:${width}px`, width: null, height: null });
  return { ...node.attrs, json, img, tag: withClasses(tag, (name) => name === "is-resized", width === null ? [] : ["is-resized"]) };
}

function imageTag(node: Node, changes: Record<string, string | null>): string {
  return `<img${withAttributes(insideOfImage(node), changes)}/>`;
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
  const caption = plainCaption(picture.caption ?? "");
  return schema.node("image", attrs, caption === "" ? [] : [schema.text(caption)]);
}

/** The text of a caption, which may come as HTML. */
function plainCaption(caption: string): string {
  return decoded(caption.replace(/<[^>]*>/g, ""))
    .replace(/\s+/g, " ")
    .trim();
}

/* ---- what is shown */

class ImageView extends Figure {
  private readonly image = element("img", "");

  constructor(node: Node) {
    super(node);
    this.body.append(this.image);
    this.image.addEventListener("error", () => this.body.classList.add("editor-missing"));
    this.image.addEventListener("load", () => this.body.classList.remove("editor-missing"));
    this.draw();
  }

  protected draw(): void {
    const inside = insideOfImage(this.node);
    const alt = attribute(inside, "alt") ?? "";
    const shown = shownPicture(attribute(inside, "src"));
    this.image.src = shown;
    this.body.classList.toggle("editor-missing", shown === "");
    this.image.title = shown === "" ? (attribute(inside, "src") ?? "") : "";
    this.image.alt = alt === "" ? t("editor.image_without_alt") : alt;
    const width = /(?:^|;)\s*width:\s*(\d{1,4})px/.exec(attribute(inside, "style") ?? "")?.[1] ?? attribute(inside, "width");
    this.image.style.width = width !== null && /^\d{1,4}$/.test(width) ? `${width}px` : "";
  }
}

function ImageDetails({ node, set, pos, session, props }: BlockProps) {
  const inside = insideOfImage(node);
  const link = node.attrs["link"] as string | null;
  const width = /(?:^|;)\s*width:\s*(\d{1,4})px/.exec(attribute(inside, "style") ?? "")?.[1] ?? "";
  return (
    <>
      <PanelText label={t("editor.alt")} value={attribute(inside, "alt") ?? ""} wide onChange={(text) => set(withAlt(node, text))} />
      <PanelText label={say("link")} value={link === null ? "" : (attribute(insideOf(link), "href") ?? "")} mode="url" onChange={(text) => set(withImageLink(node, text))} />
      <PanelText label={say("width")} value={width} mode="numeric" onChange={(text) => set(withWidth(node, /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null))} />
      <CopyImage node={node} pos={pos} session={session} props={props} />
    </>
  );
}

/** An image of another site can be copied into the library, where the server takes addresses. */
function CopyImage({ node, pos, session, props }: { node: Node; pos: number; session: Session; props: EditorProps }) {
  const [busy, setBusy] = useState(false);
  const inside = insideOfImage(node);
  const address = attribute(inside, "src") ?? "";
  const copy = props.picture?.copy;
  if (copy === undefined || !/^https?:/i.test(address) || shownPicture(address) !== "") return null;
  const run = async () => {
    setBusy(true);
    try {
      const made = makeImage({ ...(await copy(address)), alt: attribute(inside, "alt") ?? "" });
      const place = session.view.isDestroyed ? null : placeOfImage(session.view.state.doc, pos, address);
      if (made !== null && place !== null) {
        const { json, tag, img } = made.attrs;
        const attrs = { ...place.node.attrs, slice: null, json, tag, img };
        setAttrs(place.pos, attrs)(session.view.state, session.view.dispatch);
        announce(say("copied"));
      }
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
  };
  return (
    <Button small busy={busy} title={say("copy_hint")} onClick={() => void run()}>
      {say("copy")}
    </Button>
  );
}

/** Where an image is by now: the text may have changed while it was copied. */
function placeOfImage(doc: Node, pos: number, address: string): { node: Node; pos: number } | null {
  const is = (node: Node | null): node is Node => node?.type.name === "image" && attribute(insideOfImage(node), "src") === address;
  const here = pos <= doc.content.size ? doc.nodeAt(pos) : null;
  if (is(here)) return { node: here, pos };
  let found: { node: Node; pos: number } | null = null;
  doc.descendants((node, at) => {
    if (found === null && is(node)) found = { node, pos: at };
    return found === null;
  });
  return found;
}

export default {
  image: {
    order: 200,
    spec: figure(
      "image",
      { outer: null, link: null, img: "<img/>" },
      {
        toDOM: (node): DOMOutputSpec => {
          const inside = insideOfImage(node);
          const picture: DOMOutputSpec = ["img", { src: shownPicture(attribute(inside, "src")), alt: attribute(inside, "alt") ?? "" }];
          return ["figure", { "data-kind": "image", ...looks(attrsOf(node).tag) }, picture, ["figcaption", 0]];
        },
      },
    ),
    label,
    read: { "core/image": readImage },
    elements: { figure: readPlain },
    write,
    usual: "wp-block-image",
    plain: true,
    view: (node) => new ImageView(node),
    figure: true,
    aligns: OF_BOX,
    aligned: (node, tag, align) => ({ ...boxAligned(node, tag, align, hasClass(tag, "wp-block-image") ? [] : ["wp-block-image"]), outer: null }),
    Details: ImageDetails,
    insert: [
      {
        label,
        icon: "image",
        order: 60,
        words: "photo picture img figure bild foto grafik abbildung",
        classic: true,
        allowed: ({ picture }) => picture?.pick !== undefined || picture?.upload !== undefined,
        run: (session, { picture }) => session.insertChosen(picture?.pick?.({ many: false }), ([one]) => (one === undefined ? null : makeImage(one))),
      },
    ],
    ofPicture: makeImage,
    ofFile: ({ url, id, mime }) => (mime.startsWith("image/") ? makeImage({ url, alt: "", ...(id === undefined ? {} : { id }) }) : null),
    // An image alone in a paragraph.
    ofParagraph: ({ childCount, firstChild }) =>
      childCount === 1 && firstChild?.type.name === "inline_image" && firstChild.marks.length === 0 ? schema.node("image", { img: firstChild.attrs["raw"] as string }) : null,
  },
} satisfies Kinds;
