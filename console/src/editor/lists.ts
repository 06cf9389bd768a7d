/**
 * Lists of plain markup: `<ul><li>…</li></ul>`.
 */
import type { Node } from "prosemirror-model";
import { type Token, tokens } from "./html";
import { closing, readInline } from "./inline";
import type { Found, Reader, Series } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";

/** A list without delimiters, without white space around it. */
export function readList(reader: Reader, html: string, place: Place): Node | null {
  const list = reader.deeper(() => readListParts(reader, html, place === "flow" ? "flow" : "html"));
  if (list === null) return null;
  return reader.make({ ...list.parts, place }, (slice) => schema.node("list", { slice, style: "html", ...list.attrs }, list.children));
}

/** What a list is made of: also of one with delimiters around it. */
export function readListParts(reader: Reader, html: string, place: Place) {
  const all = tokens(html);
  const open = all[0];
  if (open === undefined || open.kind !== "open" || (open.name !== "ul" && open.name !== "ol")) return null;
  const end = closing(all, 0);
  const close = all[end];
  if (end !== all.length - 1 || close === undefined || close.raw !== `</${open.name}>`) return null;
  const items = readItems(reader, html, all.slice(1, end), place);
  if (items === null) return null;
  const lead = items.found[0]?.before ?? "";
  const tag = open.raw.slice(1 + open.name.length, -1);
  return {
    parts: {
      head: open.raw + lead,
      inside: html.slice(open.end + lead.length, close.start - items.rest.length),
      tail: items.rest + close.raw,
    },
    attrs: { ordered: open.name === "ol", tag: tag === "" ? null : tag },
    children: reader.children(items.found),
  };
}

function readItems(reader: Reader, html: string, all: Token[], place: Place): Series | null {
  const found: Found[] = [];
  let before = "";
  for (let index = 0; index < all.length; index++) {
    const token = all[index] as Token;
    if (token.kind === "text" && token.raw.trim() === "") {
      before += token.raw;
      continue;
    }
    if (token.kind !== "open" || token.name !== "li") return null;
    const end = closing(all, index);
    if (end < 0) return null;
    const node = readItem(reader, html, all.slice(index, end + 1), place);
    if (node === null) return null;
    found.push({ before, node });
    before = "";
    index = end;
  }
  return found.length === 0 ? null : { found, rest: before };
}

function readItem(reader: Reader, html: string, all: Token[], place: Place): Node | null {
  const open = all[0] as Token;
  const close = all[all.length - 1] as Token;
  if (close.raw !== "</li>") return null;
  let split = all.findIndex((token, index) => index > 0 && token.kind === "open" && (token.name === "ul" || token.name === "ol"));
  if (split < 0) split = all.length - 1;
  const text = html.slice(open.end, (all[split] as Token).start);
  const found: Found[] = [];
  let before = "";
  for (let index = split; index < all.length - 1; index++) {
    const token = all[index] as Token;
    if (token.kind === "text" && token.raw.trim() === "") {
      before += token.raw;
      continue;
    }
    const end = closing(all, index);
    if (token.kind !== "open" || end < 0 || end >= all.length - 1) return null;
    const list = readList(reader, html.slice(token.start, (all[end] as Token).end), place);
    if (list === null) return null;
    found.push({ before, node: list });
    before = "";
    index = end;
  }
  const tag = open.raw.slice(3, -1);
  return itemOf(reader, { open: open.raw, text, found, rest: before, close: close.raw, place }, tag);
}

/** An item of a text and lists. White space around the text belongs to its surroundings. */
export function itemOf(
  reader: Reader,
  parts: { open: string; text: string; found: Found[]; rest: string; close: string; place: Place },
  tag: string,
  json: string | null = null,
): Node | null {
  const { text, found, place } = parts;
  const inside = text.trim();
  const lead = inside === "" ? "" : (/^\s*/.exec(text)?.[0] ?? "");
  const behind = inside === "" ? text : text.slice(lead.length + inside.length);
  const content = readInline(inside, reader.classic ? "classic" : "flow");
  if (content === null) return null;
  const paragraph = reader.make({ head: "", inside, tail: "", place: "part" }, (slice) =>
    schema.node("paragraph", { slice, style: "bare" }, content),
  );
  if (paragraph === null) return null;
  const all = [{ before: "", node: paragraph }, ...found.map((one, index) => (index === 0 ? { ...one, before: behind + one.before } : one))];
  const rest = found.length === 0 ? behind + parts.rest : parts.rest;
  const children = reader.children(all);
  const kept = found.length === 0 ? inside : inside + all.slice(1).map(({ before, node }) => before + (reader.slices.of(node)?.text ?? "")).join("");
  return reader.make({ head: parts.open + lead, inside: kept, tail: rest + parts.close, place }, (slice) =>
    schema.node("list_item", { slice, style: place === "inner" ? "block" : "html", json, tag: tag === "" ? null : tag }, children),
  );
}
