/** Galleries of images. */
import type { Node } from "prosemirror-model";
import { textsOf } from "../../i18n";
import { OF_BOX } from "../change";
import { childrenOf, elementOf, onlyText, readPart } from "../element";
import { delimiters, fullTag } from "../generate";
import { type Block, writeJson } from "../grammar";
import { type Token, hasClass, tokens } from "../html";
import { closing } from "../inline";
import type { Kinds, Read } from "../kind";
import type { Found, Reader } from "../read";
import { schema } from "../schema";
import type { Place } from "../slices";
import { box } from "../specs";
import type { Picture } from "../types";
import { imageOf, makeImage } from "./image";

const say = textsOf({ en: { gallery: "Gallery" }, de: { gallery: "Galerie" } });
const label = () => say("gallery");

const readGallery: Read = (reader, block, place) => {
  const text = onlyText(block);
  if (text !== null) return readOldGallery(reader, block, text, place);
  const pieces = [...block.inside];
  const [first, last] = [pieces.shift(), pieces.pop()];
  if (typeof first !== "string" || typeof last !== "string") return null;
  const open = /^\s*<figure((?:\s[^<>]*)?)>/.exec(first);
  const close = /<\/figure>\s*$/.exec(last);
  if (open === null || close === null) return null;
  const behind = last.slice(0, close.index);
  const series = childrenOf(reader, [first.slice(open[0].length), ...pieces], /^image$/);
  if (series === null) return null;
  const ends = { head: block.open + open[0], tail: close[0] + (block.close ?? "") };
  return galleryOf(reader, block, { ...ends, tag: open[1] as string, style: "block" }, series.found, series.rest + behind, place);
};

/** The gallery of before WordPress 5.9: one block with a list of figures. */
function readOldGallery(reader: Reader, block: Block, text: string, place: Place): Node | null {
  const figure = elementOf(text);
  if (figure?.name !== "figure") return null;
  const all = tokens(figure.inside);
  const list = all[0];
  const end = list?.name === "ul" && hasClass(list.raw, "blocks-gallery-grid") ? closing(all, 0) : -1;
  if (list === undefined || end < 0) return null;
  const found: Found[] = [];
  let from = list.end;
  for (let index = 1; index < end; index++) {
    const token = all[index] as Token;
    if (token.kind === "text" && token.raw.trim() === "") continue;
    const until = closing(all, index);
    const close = all[until];
    const item = close === undefined ? null : elementOf(figure.inside.slice(token.start, close.end));
    const inner = item?.name === "li" ? elementOf(item.inside) : null;
    if (item === null || inner?.name !== "figure" || close === undefined) return null;
    const node = imageOf(reader, inner, { head: item.head, tail: item.tail, outer: null, json: null, place: "flow" });
    if (node === null) return null;
    found.push({ before: figure.inside.slice(from, token.start), node });
    from = close.end;
    index = until;
  }
  const tail = figure.inside.slice(from);
  const ends = { head: block.open + figure.head + list.raw, tail: tail + figure.tail + (block.close ?? "") };
  // A caption comes behind the end of the list: it stays as it is.
  const behind = tail.slice(tail.indexOf("</ul>") + 5);
  return galleryOf(reader, block, { ...ends, tag: figure.tag ?? "", style: "old", behind }, found, "", place);
}

function galleryOf(
  reader: Reader,
  block: Block,
  ends: { head: string; tail: string; tag: string; style: string; behind?: string },
  found: Found[],
  behind: string,
  place: Place,
): Node | null {
  let rest = behind;
  if (behind.trim() !== "") {
    const caption = readPart(reader, behind, "caption", "figcaption", "inner");
    if (caption === null) return null;
    found.push({ before: /^\s*/.exec(behind)?.[0] ?? "", node: caption });
    rest = /\s*$/.exec(behind)?.[0] ?? "";
  }
  if (found.length === 0) return null;
  const lead = found[0]?.before ?? "";
  const inside = found.map(({ before, node }, index) => (index === 0 ? "" : before) + (reader.slices.of(node)?.text ?? "")).join("");
  const attrs = { style: ends.style, json: block.json, tag: ends.tag, behind: ends.behind ?? "" };
  return reader.make({ head: ends.head + lead, inside, tail: rest + ends.tail, place }, (slice) =>
    schema.node("gallery", { slice, ...attrs }, reader.children(found)),
  );
}

export function makeGallery(pictures: Picture[]): Node | null {
  const images = pictures.map(makeImage).filter((node) => node !== null);
  if (images.length === 0) return null;
  return schema.node("gallery", { json: writeJson({ linkTo: "none" }) }, images);
}

export default {
  gallery: {
    order: 210,
    spec: box("gallery", "image+ caption?", { isolating: true, draggable: true }, { behind: "" }),
    label,
    read: { "core/gallery": readGallery },
    write: (job) => {
      const open = `<figure${fullTag(job)}>`;
      if (job.style !== "old") return delimiters(job, "core/gallery", `${open}${job.inside}</figure>`);
      return delimiters(job, "core/gallery", `${open}<ul class="blocks-gallery-grid">${job.inside}</ul>${job.node.attrs["behind"] as string}</figure>`);
    },
    usual: "wp-block-gallery has-nested-images columns-default is-cropped",
    movesChildren: true,
    aligns: OF_BOX,
    insert: [
      {
        label,
        icon: "grid",
        order: 70,
        words: "photos pictures images slideshow galerie bilder fotos",
        allowed: ({ picture }) => picture?.pick !== undefined,
        run: (session, { picture }) => session.insertChosen(picture?.pick?.({ many: true }), makeGallery),
      },
    ],
  },
} satisfies Kinds;
