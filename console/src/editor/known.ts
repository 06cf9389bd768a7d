/**
 * Blocks that can be edited, by their name: their inside to nodes.
 *
 * Each reader takes only markup of the shape that the block has. Attributes, classes and white space may be any: they are kept as
 * they are written. A reader that meets something else gives null, and the block stays one object with its source.
 */
import type { Node } from "prosemirror-model";
import { boxOf, frameOf } from "./boxes";
import { type Element, type Read, childrenOf, elementOf, onlyText } from "./element";
import { embedReaders, readGallery, readImage, readPlayer } from "./figures";
import { readFlow } from "./flow";
import { readCover, readDetails, readMediaText } from "./framed";
import { type Block, readJson } from "./grammar";
import { type Mode, readInline } from "./inline";
import { itemOf, readListParts } from "./lists";
import type { Reader } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";
import { readTableFigure } from "./tables";

function element(block: Block, names: RegExp): Element | null {
  const text = onlyText(block);
  const found = text === null ? null : elementOf(text);
  return found !== null && names.test(found.name) ? found : null;
}

/** A block that is one element with text in it. */
function textBlock(kind: string, names: RegExp, mode: Mode, more: (found: Element) => object = () => ({})): Read {
  return (reader, block, place) => {
    const found = element(block, names);
    const content = found === null ? null : readInline(found.inside, mode);
    if (found === null || content === null) return null;
    const parts = { head: block.open + found.head, inside: found.inside, tail: found.tail + (block.close ?? ""), place };
    const attrs = { style: "block", json: block.json, tag: found.tag ?? "", ...more(found) };
    return reader.make(parts, (slice) => schema.node(kind, { slice, ...attrs }, content));
  };
}

/** A block with an element around inner blocks. */
function boxBlock(kind: string, names: RegExp, kinds: RegExp | null): Read {
  return (reader, block, place) => {
    const frame = frameOf(block);
    if (frame === null || !names.test(frame.name)) return null;
    const series = childrenOf(reader, frame.pieces, kinds);
    if (series === null || (series.found.length === 0 && kinds !== null)) return null;
    return boxOf(reader, kind, block, frame, series, place, { el: frame.name });
  };
}

/** An object whose text must have a shape. */
function objectBlock(kind: string, shape: RegExp): Read {
  return (reader, block, place) => {
    const text = onlyText(block);
    if (text === null || !shape.test(text)) return null;
    const whole = block.open + text + (block.close ?? "");
    return reader.object(whole, place, (slice) => schema.node(kind, { slice, style: "block", json: block.json, source: text.trim() }));
  };
}

const readListBlock: Read = (reader, block, place) => {
  const text = onlyText(block);
  if (text !== null) {
    const list = readListParts(reader, text.trim(), "flow");
    if (list === null) return null;
    const [before, after] = [/^\s*/.exec(text)?.[0] ?? "", /\s*$/.exec(text)?.[0] ?? ""];
    const parts = { head: block.open + before + list.parts.head, inside: list.parts.inside, tail: list.parts.tail + after + (block.close ?? ""), place };
    const attrs = { style: "old", json: block.json, ordered: list.attrs.ordered, tag: list.attrs.tag ?? "" };
    return reader.make(parts, (slice) => schema.node("list", { slice, ...attrs }, list.children));
  }
  const frame = frameOf(block);
  if (frame === null || !/^[uo]l$/.test(frame.name)) return null;
  const series = childrenOf(reader, frame.pieces, /^list_item$/);
  return series === null ? null : boxOf(reader, "list", block, frame, series, place, { ordered: frame.name === "ol" });
};

/** An item: its text, then lists. */
const readListItem: Read = (reader, block, place) => {
  if (place !== "inner" || block.single || block.close === null) return null;
  const pieces = [...block.inside];
  const first = pieces.shift();
  if (typeof first !== "string") return null;
  const open = /^\s*<li((?:\s[^<>]*)?)>/.exec(first);
  if (open === null) return null;
  let text = first.slice(open[0].length);
  let close = "";
  const ending = /<\/li>\s*$/;
  const lastText = pieces.length === 0 ? text : pieces.pop();
  if (typeof lastText !== "string" || !ending.test(lastText)) return null;
  close = ending.exec(lastText)?.[0] as string;
  const beforeClose = lastText.slice(0, -close.length);
  if (pieces.length === 0 && lastText === text) text = beforeClose;
  else pieces.push(beforeClose);
  const series = childrenOf(reader, pieces.filter((piece) => piece !== ""), /^list$/);
  if (series === null) return null;
  const parts = { open: block.open + open[0], text, found: series.found, rest: series.rest, close: close + block.close, place };
  return itemOf(reader, parts, open[1] as string, block.json);
};

const readQuoteBlock: Read = (reader, block, place) => {
  const frame = frameOf(block);
  if (frame === null || frame.name !== "blockquote") return null;
  const pieces = frame.pieces;
  const last = pieces[pieces.length - 1];
  let cite = "";
  if (typeof last === "string") {
    cite = /<cite(?:\s[^<>]*)?>(?:(?!<cite|<\/cite)[\s\S])*<\/cite>\s*$/.exec(last)?.[0] ?? "";
    pieces[pieces.length - 1] = last.slice(0, last.length - cite.length);
  }
  const text = pieces.length === 1 ? (pieces[0] as string) : null;
  const old = text !== null && text.trim() !== "";
  const inner = old ? "flow" : "inner";
  const series = old ? readFlow(reader, text, "flow") : childrenOf(reader, pieces, null);
  if (series === null || (old && series.found.some(({ node }) => node.type.name === "verbatim"))) return null;
  if (series.found.length === 0 && (cite !== "" || text === null)) return null;
  if (cite !== "") {
    const node = readCite(reader, cite, inner);
    if (node === null) return null;
    series.found.push({ before: series.rest, node });
    series.rest = /\s*$/.exec(cite)?.[0] ?? "";
  }
  return boxOf(reader, "quote", block, frame, series, place, { style: old ? "old" : "block" });
};

function readCite(reader: Reader, html: string, place: Place): Node | null {
  const found = elementOf(html.trim());
  const content = found?.name === "cite" ? readInline(found.inside, "flow") : null;
  if (found === null || content === null) return null;
  const parts = { head: found.head, inside: found.inside, tail: found.tail, place };
  return reader.make(parts, (slice) => schema.node("cite", { slice, tag: found.tag ?? "" }, content));
}

const readPullquote: Read = (reader, block, place) => {
  const figure = element(block, /^figure$/);
  const quote = figure === null ? null : elementOf(figure.inside);
  if (figure === null || quote?.name !== "blockquote") return null;
  const cite = /<cite(?:\s[^<>]*)?>(?:(?!<cite|<\/cite)[\s\S])*<\/cite>\s*$/.exec(quote.inside)?.[0] ?? "";
  const series = readFlow(reader, quote.inside.slice(0, quote.inside.length - cite.length), "flow");
  if (series.found.length !== 1 || series.found[0]?.node.type.name !== "paragraph") return null;
  if (cite !== "") {
    const node = readCite(reader, cite, "flow");
    if (node === null) return null;
    series.found.push({ before: series.rest, node });
    series.rest = /\s*$/.exec(cite)?.[0] ?? "";
  }
  const frame = {
    name: "figure",
    tag: figure.tag ?? "",
    head: block.open + figure.head + quote.head,
    pieces: [],
    tail: quote.tail + figure.tail + (block.close ?? ""),
  };
  return boxOf(reader, "pullquote", block, frame, series, place, { inner: quote.tag ?? "" });
};

const readCode: Read = (reader, block, place) => {
  const pre = element(block, /^pre$/);
  const code = pre === null ? null : elementOf(pre.inside);
  const content = code?.name === "code" ? readInline(code.inside, "code") : null;
  if (pre === null || code === null || content === null) return null;
  const parts = { head: block.open + pre.head + code.head, inside: code.inside, tail: code.tail + pre.tail + (block.close ?? ""), place };
  const attrs = { style: "block", json: block.json, tag: pre.tag ?? "", inner: code.tag ?? "" };
  return reader.make(parts, (slice) => schema.node("code", { slice, ...attrs }, content));
};

const readTableBlock: Read = (reader, block, place) => {
  const figure = element(block, /^figure$/);
  return figure === null ? null : readTableFigure(reader, figure, { head: block.open, tail: block.close ?? "", style: "block", json: block.json, place });
};

const readButton: Read = (reader, block, place) => {
  const box = element(block, /^div$/);
  const link = box === null ? null : elementOf(box.inside);
  const content = link !== null && /^(?:a|button|span)$/.test(link.name) ? readInline(link.inside, "flow") : null;
  if (box === null || link === null || content === null) return null;
  const parts = { head: block.open + box.head + link.head, inside: link.inside, tail: link.tail + box.tail + (block.close ?? ""), place };
  const attrs = { style: "block", json: block.json, tag: box.tag ?? "", link: link.head.trim() };
  return reader.make(parts, (slice) => schema.node("button", { slice, ...attrs }, content));
};

const readReusable: Read = (reader, block, place) => {
  const ref = readJson(block.json)?.["ref"];
  if (!block.single || typeof ref !== "number" || !Number.isSafeInteger(ref)) return null;
  return reader.object(block.open, place, (slice) => schema.node("reusable", { slice, style: "block", json: block.json }));
};

/** Markup that people write themselves. */
const readRaw: Read = (reader, block, place) => {
  const text = onlyText(block);
  if (text === null) return null;
  const source = text.replace(/^\n/, "").replace(/\n$/, "");
  return reader.object(block.open + text + (block.close ?? ""), place, (slice) =>
    schema.node("raw", { slice, style: "block", json: block.json, name: block.name, source }),
  );
};

const FRAME = /^(?:div|section|main|article|aside|header|footer|nav)$/;

const READERS: Record<string, Read> = {
  "core/paragraph": textBlock("paragraph", /^p$/, "flow"),
  "core/heading": textBlock("heading", /^h[1-6]$/, "flow", ({ name }) => ({ level: Number(name[1]) })),
  "core/list": readListBlock,
  "core/list-item": readListItem,
  "core/quote": readQuoteBlock,
  "core/pullquote": readPullquote,
  "core/code": readCode,
  "core/preformatted": textBlock("preformatted", /^pre$/, "pre"),
  "core/verse": textBlock("verse", /^pre$/, "pre"),
  "core/table": readTableBlock,
  "core/image": readImage,
  "core/gallery": readGallery,
  "core/audio": readPlayer("audio"),
  "core/video": readPlayer("video"),
  "core/file": objectBlock("file", /^\s*<div[\s>][\s\S]*<\/div>\s*$/),
  "core/columns": boxBlock("columns", FRAME, /^column$/),
  "core/column": boxBlock("column", FRAME, null),
  "core/group": boxBlock("group", FRAME, null),
  "core/cover": readCover,
  "core/media-text": readMediaText,
  "core/details": readDetails,
  "core/buttons": boxBlock("buttons", /^div$/, /^button$/),
  "core/button": readButton,
  "core/separator": objectBlock("separator", /^\s*<hr(?:\s[^<>]*)?\/?>\s*$/),
  "core/spacer": objectBlock("spacer", /^\s*<div(?:\s[^<>]*)?><\/div>\s*$/),
  "core/more": objectBlock("more", /^\s*<!--more[\s\S]*-->\s*$/),
  "core/nextpage": objectBlock("nextpage", /^\s*<!--nextpage-->\s*$/),
  "core/block": readReusable,
  "core/html": readRaw,
  "core/shortcode": readRaw,
};

/** The node of a block, or null when it cannot be edited. */
export function readBlock(reader: Reader, block: Block, place: Place): Node | null {
  const read = READERS[block.name] ?? embedReaders(block.name);
  if (read === null || readJson(block.json) === null) return null;
  // Some kinds are only in their parents.
  const nested = block.name === "core/list-item" || block.name === "core/column";
  if (nested && place !== "inner") return null;
  return read(reader, block, place);
}
