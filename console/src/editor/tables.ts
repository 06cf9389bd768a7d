/**
 * Tables of plain markup.
 */
import type { Node } from "prosemirror-model";
import { type Element, readCaption } from "./element";
import { type Token, attribute, tokens } from "./html";
import { closing, readInline } from "./inline";
import type { Found, Reader } from "./read";
import { schema } from "./schema";
import type { Place } from "./slices";

const SECTIONS: Record<string, string> = { thead: "head", tbody: "body", tfoot: "foot" };

/** A table, without white space around it; null when it has more than sections, rows and cells of text. */
export function readTable(reader: Reader, html: string): Node | null {
  const all = tokens(html);
  const open = all[0];
  const close = all[all.length - 1];
  if (open?.kind !== "open" || open.name !== "table" || close === undefined || close.raw !== "</table>") return null;
  if (closing(all, 0) !== all.length - 1) return null;
  const found: Found[] = [];
  let section = "body";
  let from = open.end;
  for (let index = 1; index < all.length - 1; index++) {
    const token = all[index] as Token;
    if (token.kind === "text" && token.raw.trim() === "") continue;
    if (token.name in SECTIONS) {
      section = SECTIONS[token.name] as string;
      if (token.raw.includes(" ")) return null;
      continue;
    }
    if (token.kind !== "open" || token.name !== "tr") return null;
    const end = closing(all, index);
    if (end < 0) return null;
    const row = readRow(reader, html, all.slice(index, end + 1), section);
    if (row === null) return null;
    found.push({ before: html.slice(from, token.start), node: row });
    from = (all[end] as Token).end;
    index = end;
  }
  if (found.length === 0 || !inOrder(found) || !fitsTogether(found)) return null;
  const lead = found[0]?.before ?? "";
  const parts = { head: open.raw + lead, inside: html.slice(open.end + lead.length, from), tail: html.slice(from), place: "part" as const };
  const tag = open.raw.slice(6, -1);
  return reader.make(parts, (slice) => schema.node("table", { slice, style: "html", tag }, reader.children(found)));
}

/** Head before body before foot. */
function inOrder(found: Found[]): boolean {
  const order = ["head", "body", "foot"];
  const places = found.map(({ node }) => order.indexOf(node.attrs["section"] as string));
  return places.every((place, index) => index === 0 || place >= (places[index - 1] as number));
}

/** The editor's tables are rectangles: rows of other lengths would be filled up. */
function fitsTogether(found: Found[]): boolean {
  const widths: number[] = [];
  found.forEach(({ node }, index) => {
    node.forEach((cell) => {
      for (let row = 0; row < (cell.attrs["rowspan"] as number); row++) {
        widths[index + row] = (widths[index + row] ?? 0) + (cell.attrs["colspan"] as number);
      }
    });
  });
  return widths.length === found.length && widths.every((width) => width === widths[0] && width > 0);
}

function readRow(reader: Reader, html: string, all: Token[], section: string): Node | null {
  const open = all[0] as Token;
  const close = all[all.length - 1] as Token;
  if (close.raw !== "</tr>") return null;
  const found: Found[] = [];
  let from = open.end;
  for (let index = 1; index < all.length - 1; index++) {
    const token = all[index] as Token;
    if (token.kind === "text" && token.raw.trim() === "") continue;
    if (token.kind !== "open" || (token.name !== "td" && token.name !== "th")) return null;
    const end = closing(all, index);
    if (end < 0) return null;
    const cell = readCell(reader, token, html.slice(token.end, (all[end] as Token).start), (all[end] as Token).raw);
    if (cell === null) return null;
    found.push({ before: html.slice(from, token.start), node: cell });
    from = (all[end] as Token).end;
    index = end;
  }
  const first = found[0];
  if (first === undefined) return null;
  const parts = {
    head: open.raw + first.before,
    inside: html.slice(open.end + first.before.length, from),
    tail: html.slice(from, close.start) + close.raw,
    place: "part" as const,
  };
  const tag = open.raw.slice(3, -1);
  return reader.make(parts, (slice) => schema.node("table_row", { slice, section, tag: tag === "" ? null : tag }, reader.children(found)));
}

function readCell(reader: Reader, open: Token, inside: string, close: string): Node | null {
  if (close !== `</${open.name}>`) return null;
  const text = inside.trim();
  const lead = text === "" ? inside : (/^\s*/.exec(inside)?.[0] ?? "");
  const content = readInline(text, reader.classic ? "classic" : "flow");
  if (content === null) return null;
  const tag = open.raw.slice(3, -1);
  const span = (name: string) => {
    const value = attribute(tag, name);
    return value === null ? 1 : /^[1-9]\d{0,2}$/.test(value) ? Number(value) : 0;
  };
  const [colspan, rowspan] = [span("colspan"), span("rowspan")];
  if (colspan === 0 || rowspan === 0) return null;
  const parts = { head: open.raw + lead, inside: text, tail: inside.slice(lead.length + text.length) + close, place: "part" as const };
  const kind = open.name === "th" ? "table_header" : "table_cell";
  return reader.make(parts, (slice) => schema.node(kind, { slice, tag: tag === "" ? null : tag, colspan, rowspan }, content));
}

/** A figure with a table and perhaps a caption. `around` is what comes before and behind the figure. */
export function readTableFigure(
  reader: Reader,
  figure: Element,
  around: { head: string; tail: string; style: string; json: string | null; place: Place },
): Node | null {
  const end = figure.inside.lastIndexOf("</table>");
  if (end < 0) return null;
  const text = figure.inside.slice(0, end + 8);
  const lead = /^\s*/.exec(text)?.[0] ?? "";
  const table = readTable(reader, text.slice(lead.length));
  if (table === null) return null;
  const found: Found[] = [{ before: lead, node: table }];
  const behind = figure.inside.slice(end + 8);
  let inside = text.slice(lead.length);
  if (behind.trim() !== "") {
    const caption = readCaption(reader, behind.trim(), "part");
    if (caption === null) return null;
    const between = /^\s*/.exec(behind)?.[0] ?? "";
    found.push({ before: between, node: caption });
    inside += between + behind.trim();
  }
  const rest = /\s*$/.exec(behind)?.[0] ?? "";
  const attrs = { style: around.style, json: around.json, tag: figure.tag ?? "" };
  return reader.make({ head: around.head + figure.head + lead, inside, tail: rest + figure.tail + around.tail, place: around.place }, (slice) =>
    schema.node("table_figure", { slice, ...attrs }, reader.children(found)),
  );
}
