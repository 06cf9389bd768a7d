/**
 * Blocks that are a figure with a caption: pictures, galleries, players and what comes from elsewhere.
 */
import type { Node } from "prosemirror-model";
import { type Block, readJson } from "./grammar";
import { type Token, decoded, hasClass, tokens } from "./html";
import { closing, readInline } from "./inline";
import { type Element, type Read, childrenOf, elementOf, onlyText, readCaption } from "./element";
import type { Found, Reader } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";
import { readTableFigure } from "./tables";

/** What a figure with a caption in it is made of. */
interface Captioned {
  /** Markup before the caption. */
  body: string;
  cap: string | null;
  head: string;
  inside: string;
  tail: string;
  content: Node[];
}

/** The two parts of a figure's inside; null when its caption cannot be edited. */
function captioned(html: string): Captioned | null {
  const start = html.indexOf("<figcaption");
  if (start < 0) return { body: html, cap: null, head: html, inside: "", tail: "", content: [] };
  const found = elementOf(html.slice(start));
  const content = found?.name === "figcaption" ? readInline(found.inside, "flow") : null;
  if (found === null || content === null) return null;
  return { body: html.slice(0, start), cap: found.tag ?? "", head: html.slice(0, start) + found.head, inside: found.inside, tail: found.tail, content };
}

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
function imageOf(
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

/** A figure without delimiters: a picture or a table. */
export function readFigure(reader: Reader, text: string, place: Place): Node | null {
  const figure = elementOf(text);
  if (figure?.name !== "figure") return null;
  const around = { head: "", tail: "", outer: null, json: null, style: "html", place };
  return imageOf(reader, figure, around) ?? readTableFigure(reader, figure, around);
}

export const readImage: Read = (reader, block, place) => {
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

export const readGallery: Read = (reader, block, place) => {
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
    const caption = readCaption(reader, behind.trim(), "inner");
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

/** A figure with a sound or film. */
export function readPlayer(kind: "audio" | "video"): Read {
  return (reader, block, place) => {
    const text = onlyText(block);
    const figure = text === null ? null : elementOf(text);
    const parts = figure?.name === "figure" ? captioned(figure.inside) : null;
    if (figure === null || parts === null || elementOf(parts.body)?.name !== kind) return null;
    const attrs = { style: "block", json: block.json, tag: figure.tag ?? "", kind, media: parts.body, cap: parts.cap };
    const ends = { head: block.open + figure.head + parts.head, inside: parts.inside, tail: parts.tail + figure.tail + (block.close ?? ""), place };
    return reader.make(ends, (slice) => schema.node("player", { slice, ...attrs }, parts.content));
  };
}

/** The reader of an embed by the name of its block: each provider had one of its own. */
export function embedReaders(name: string): Read | null {
  return name === "core/embed" || name.startsWith("core-embed/") ? readEmbed : null;
}

const readEmbed: Read = (reader, block, place) => {
  const text = onlyText(block);
  const figure = text === null ? null : elementOf(text);
  const parts = figure?.name === "figure" ? captioned(figure.inside) : null;
  const box = parts === null ? null : elementOf(parts.body);
  if (figure === null || parts === null || box?.name !== "div" || box.inside.includes("<")) return null;
  const json = readJson(block.json)?.["url"];
  const url = typeof json === "string" ? json : decoded(box.inside.trim());
  const attrs = { style: "block", json: block.json, tag: figure.tag ?? "", name: block.name, url, cap: parts.cap };
  const ends = { head: block.open + figure.head + parts.head, inside: parts.inside, tail: parts.tail + figure.tail + (block.close ?? ""), place };
  return reader.make(ends, (slice) => schema.node("embed", { slice, ...attrs }, parts.content));
};
