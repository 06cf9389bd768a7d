/** Media and text, side by side. */
import type { Attrs, Node } from "prosemirror-model";
import { textsOf } from "../../i18n";
import { Field } from "../../ui";
import { WIDE } from "../change";
import { isCurrent, textColours } from "../colours";
import {
  FrameView, MediaSettings, type Media, filled, framedBlock, framedSpec, isRight, pictureParts, tagOf, withOther, withPictureAlt, writeFramed,
} from "../framed";
import { jsonWith, readJson } from "../grammar";
import { escapedValue, hasClass, withClasses, withStyle } from "../html";
import { Percent } from "../inputs";
import type { BlockProps, Kinds } from "../kind";
import { attrsOf, schema } from "../schema";
import type { Picture } from "../types";

const say = textsOf({
  en: { name: "Media & Text", width: "Media width in percent", side: "Media position", left: "Left", right: "Right" },
  de: { name: "Medien und Text", width: "Medienbreite in Prozent", side: "Position der Medien", left: "Links", right: "Rechts" },
});
const label = () => say("name");

export const media: Media = {
  place: (node) => ((node.attrs["before"] as string).includes("<figure") ? "before" : "after"),
  // A film or a link stays.
  takesPicture: (node) => isCurrent(node) && !/<(?:video|a)[\s>]/.test(node.attrs[media.place(node)] as string),
  withPicture(node, picture) {
    const parts = pictureParts(picture);
    if (parts === null || !media.takesPicture(node)) return null;
    const { url, id, alt, size } = parts;
    // Pictures of elsewhere have no sizes.
    const classes = id === undefined ? [] : [...parts.classes, `size-${size ?? "full"}`];
    const whole = `<img${withClasses(` src="${escapedValue(url)}" alt="${escapedValue(alt)}"`, () => false, classes)}/>`;
    const attrs = withOther(media, node, parts, classes, (markup) => markup.replace(/(<figure[^<>]*>)[\s\S]*(<\/figure>)/, (_, open: string, close: string) => open + whole + close));
    return { ...attrs, json: jsonWith(attrsOf(node).json, { mediaId: id, mediaLink: undefined, mediaType: "image", mediaSizeSlug: id === undefined ? undefined : size }) };
  },
  withAlt: (node, alt) => withPictureAlt(media, node, alt),
};

/** Attributes of a text with its media on a side. */
export function withSide(node: Node, right: boolean): Attrs {
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

export function withMediaWidth(node: Node, width: number): Attrs {
  const tag = withStyle(tagOf(node), { "grid-template-columns": tracks(width, isRight(node)) });
  return { ...node.attrs, tag, json: jsonWith(attrsOf(node).json, { mediaWidth: width === HALF ? undefined : width }) };
}

export function makeMediaText(picture: Picture | null): Node {
  const attrs = { before: '<figure class="wp-block-media-text__media"></figure>', inner: ' class="wp-block-media-text__content"' };
  return filled(media, schema.node("media_text", attrs, [schema.node("paragraph")]), picture);
}

function columnsOf(node: Node, dom: HTMLElement): HTMLElement[] {
  const width = mediaWidth(node);
  dom.style.gridTemplateColumns = width === HALF ? "" : isRight(node) ? `minmax(0, 1fr) ${width}%` : `${width}% minmax(0, 1fr)`;
  return [];
}

function MediaTextSettings(props: BlockProps) {
  const { node, set } = props;
  return (
    <>
      <MediaSettings {...props} media={media} />
      <Field label={say("side")}>
        {(ids) => (
          <select {...ids} class="select" value={isRight(node) ? "right" : "left"} onChange={(event) => set(withSide(node, event.currentTarget.value === "right"))}>
            <option value="left">{say("left")}</option>
            <option value="right">{say("right")}</option>
          </select>
        )}
      </Field>
      <Percent label={say("width")} value={mediaWidth(node)} onChange={(width) => set(withMediaWidth(node, Math.min(85, Math.max(15, width ?? HALF))))} />
    </>
  );
}

export default {
  media_text: {
    order: 280,
    spec: framedSpec("media_text"),
    label,
    read: { "core/media-text": framedBlock("media_text", "wp-block-media-text__content") },
    write: writeFramed("core/media-text"),
    usual: "wp-block-media-text is-stacked-on-mobile",
    view: (node) => new FrameView(node, media, columnsOf),
    figure: true,
    aligns: WIDE,
    colours: textColours,
    isCurrent: (node) => {
      const stacked = readJson(attrsOf(node).json)?.["isStackedOnMobile"] !== false;
      const markup = node.attrs[isRight(node) ? "after" : "before"] as string;
      return hasClass(`<div${tagOf(node)}>`, "is-stacked-on-mobile") === stacked && markup.includes("<figure");
    },
    Settings: MediaTextSettings,
    insert: [
      {
        label,
        icon: "columns",
        order: 170,
        words: "image picture side medien bild",
        run: (session, { picture }) => session.insertChosen(picture?.pick?.({ many: false }), ([one]) => makeMediaText(one ?? null)),
      },
    ],
  },
} satisfies Kinds;
