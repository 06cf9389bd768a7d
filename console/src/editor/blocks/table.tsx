/** Tables: a figure with a table of rows and cells, and a caption. */
import type { DOMOutputSpec, Node } from "prosemirror-model";
import type { Command, Transaction } from "prosemirror-state";
import { addColumnAfter, addColumnBefore, addRowAfter, addRowBefore, deleteColumn, deleteRow, goToNextCell, mergeCells, splitCell } from "prosemirror-tables";
import { textsOf } from "../../i18n";
import { Menu, type MenuItem } from "../../ui";
import { OF_BOX, OF_TEXT, textTag } from "../change";
import { find, lineBreak } from "../commands";
import { type Element, elementIn, elementOf, readPart } from "../element";
import { delimiters, fullTag, partElement } from "../generate";
import { type Token, attribute, tokens, withAttributes } from "../html";
import { closing, readInline } from "../inline";
import type { Kind, Kinds, Read, ReadElement } from "../kind";
import { looks } from "../looks";
import type { Found, Reader } from "../read";
import type { Session } from "../session";
import { attrsOf, common, schema, typeOf } from "../schema";
import type { Place } from "../slices";
import { box } from "../specs";

const say = textsOf({
  en: {
    table: "Table", row_before: "Insert row before", row_after: "Insert row after", delete_row: "Delete row", column_before: "Insert column before",
    column_after: "Insert column after", delete_column: "Delete column", merge_cells: "Merge cells", split_cell: "Split cell", toggle_head: "Header section",
    toggle_foot: "Footer section", toggle_caption: "Caption", delete_table: "Delete table",
  },
  de: {
    table: "Tabelle", row_before: "Zeile davor einfügen", row_after: "Zeile danach einfügen", delete_row: "Zeile löschen", column_before: "Spalte davor einfügen",
    column_after: "Spalte danach einfügen", delete_column: "Spalte löschen", merge_cells: "Zellen verbinden", split_cell: "Zelle teilen", toggle_head: "Kopfbereich",
    toggle_foot: "Fußbereich", toggle_caption: "Beschriftung", delete_table: "Tabelle löschen",
  },
});

/* ---- reading */

const SECTIONS: Record<string, string> = { thead: "head", tbody: "body", tfoot: "foot" };
const TAGS: Record<string, string> = { head: "thead", body: "tbody", foot: "tfoot" };

const sectionOf = (row: Node | null | undefined) => row?.attrs["section"] as string | undefined;
/** The element that a row stands in. */
const tagOf = (row: Node | null) => TAGS[sectionOf(row) ?? "body"] ?? "tbody";

/** A table, without white space around it; null when it has more than sections, rows and cells of text. */
function readTable(reader: Reader, html: string): Node | null {
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
function readFigure(
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
    const caption = readPart(reader, behind, "caption", "figcaption", "part");
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

const readBlock: Read = (reader, block, place) => {
  const figure = elementIn(block, /^figure$/);
  return figure === null ? null : readFigure(reader, figure, { head: block.open, tail: block.close ?? "", style: "block", json: block.json, place });
};

const readPlainFigure: ReadElement = (reader, text, _, place) => {
  const figure = elementOf(text);
  return figure === null ? null : readFigure(reader, figure, { head: "", tail: "", json: null, style: "html", place });
};

const readPlainTable: ReadElement = (reader, text, _, place) => {
  const table = readTable(reader, text);
  if (table === null) return null;
  return reader.make({ head: "", inside: text, tail: "", place }, (slice) => schema.node("table_figure", { slice, style: "html" }, [table]));
};

/* ---- commands */

/** A command whose new rows belong to the section that they are in. */
function inSections(command: Command): Command {
  return (state, dispatch) => {
    const table = find(state, "table");
    if (table === null) return false;
    return command(state, dispatch === undefined ? undefined : (tr) => dispatch(mendSections(tr, table.pos)));
  };
}

/** Head before body before foot: a row that came in between belongs to what is around it. */
function mendSections(tr: Transaction, pos: number): Transaction {
  const table = tr.doc.nodeAt(pos);
  if (table === null || table.type.name !== "table") return tr;
  const sections: string[] = [];
  table.forEach((row) => sections.push(row.attrs["section"] as string));
  const lastHead = sections.lastIndexOf("head");
  const firstFoot = sections.indexOf("foot");
  table.forEach((row, offset, index) => {
    const wanted = index <= lastHead ? "head" : firstFoot >= 0 && index >= firstFoot ? "foot" : (row.attrs["section"] as string);
    if (wanted !== row.attrs["section"]) tr.setNodeMarkup(pos + 1 + offset, null, { ...row.attrs, slice: null, section: wanted });
  });
  return tr;
}

/** Gives the table a head or foot row, or takes it away. */
function toggleSection(section: "head" | "foot"): Command {
  return (state, dispatch) => {
    const table = find(state, "table");
    if (table === null) return false;
    const index = section === "head" ? 0 : table.node.childCount - 1;
    const row = table.node.child(index);
    const has = row.attrs["section"] === section;
    if (!has && table.node.childCount < 2) return false;
    if (dispatch !== undefined) {
      const type = typeOf(section === "head" && !has ? "table_header" : "table_cell");
      const cells: Node[] = [];
      row.forEach((cell) => cells.push(section === "head" ? type.create(cell.attrs, cell.content) : cell));
      let at = table.pos + 1;
      for (let before = 0; before < index; before++) at += table.node.child(before).nodeSize;
      const changed = row.type.create({ ...row.attrs, slice: null, section: has ? "body" : section }, cells);
      const tr = state.tr.replaceWith(at, at + row.nodeSize, changed);
      tr.setSelection(state.selection.map(tr.doc, tr.mapping));
      dispatch(tr);
    }
    return true;
  };
}

/** Adds a caption to the table, or takes an empty one away. */
const toggleCaption: Command = (state, dispatch) => {
  const figure = find(state, "table_figure");
  if (figure === null) return false;
  const caption = figure.node.childCount > 1 ? figure.node.lastChild : null;
  const end = figure.pos + figure.node.nodeSize - 1;
  if (caption === null) dispatch?.(state.tr.insert(end, schema.node("caption")));
  else dispatch?.(state.tr.delete(end - caption.nodeSize, end));
  return true;
};

const deleteTable: Command = (state, dispatch) => {
  const figure = find(state, "table_figure");
  if (figure === null) return false;
  dispatch?.(state.tr.replaceWith(figure.pos, figure.pos + figure.node.nodeSize, schema.node("paragraph")).scrollIntoView());
  return true;
};

export const tableCommands: Record<string, Command> = {
  row_before: inSections(addRowBefore),
  row_after: inSections(addRowAfter),
  delete_row: deleteRow,
  column_before: addColumnBefore,
  column_after: addColumnAfter,
  delete_column: deleteColumn,
  merge_cells: mergeCells,
  split_cell: splitCell,
  toggle_head: toggleSection("head"),
  toggle_foot: toggleSection("foot"),
  toggle_caption: toggleCaption,
  delete_table: deleteTable,
};

/** A cell takes no second paragraph: Enter makes a break. */
const cellBreak: Command = (state, dispatch) => (find(state, "table_cell", "table_header") === null ? false : lineBreak(state, dispatch));

const SEPARATED = ["column_before", "merge_cells", "toggle_head", "delete_table"];

function TableMenu({ session, checks }: { session: Session; checks: Record<string, boolean> }) {
  const items: MenuItem[] = Object.entries(tableCommands).map(([name, command]) => ({
    name,
    label: say(name as Parameters<typeof say>[0]),
    checked: checks[name],
    danger: name === "delete_table",
    separated: SEPARATED.includes(name),
    disabled: !session.can(command),
    onSelect: () => session.run(command),
  }));
  return <Menu label={say("table")} icon="table" small items={items} />;
}

/* ---- kinds */

export function makeTable(rows: number, columns: number, head: boolean): Node {
  const row = (section: string) => schema.node("table_row", { section }, Array.from({ length: columns }, () => schema.node(section === "head" ? "table_header" : "table_cell")));
  const all = Array.from({ length: rows }, (_, index) => row(head && index === 0 ? "head" : "body"));
  return schema.node("table_figure", null, [schema.node("table", null, all)]);
}

function cell(tag: string, tableRole: string): Kind {
  return {
    order: 90,
    spec: {
      content: "inline*",
      isolating: true,
      attrs: { ...common, colspan: { default: 1 }, rowspan: { default: 1 }, colwidth: { default: null } },
      tableRole,
      toDOM: (node): DOMOutputSpec => [tag, { colspan: String(node.attrs["colspan"]), rowspan: String(node.attrs["rowspan"]), ...looks(attrsOf(node).tag) }, 0],
      parseDOM: [{ tag }],
    },
    write: ({ node, inside }) => {
      const span = (key: string) => (node.attrs[key] === 1 ? null : String(node.attrs[key]));
      return `<${tag}${withAttributes(attrsOf(node).tag ?? "", { colspan: span("colspan"), rowspan: span("rowspan") })}>${inside}</${tag}>`;
    },
    dropsTag: true,
    aligns: OF_TEXT,
    aligned: (_, inside, align) => ({ tag: withAttributes(textTag(inside, align), { "data-align": align }) }),
  };
}

const label = () => say("table");

export default {
  table_figure: {
    order: 90,
    spec: box("table", "table caption?", { isolating: true, draggable: true }),
    label,
    read: { "core/table": readBlock },
    elements: { figure: readPlainFigure, table: readPlainTable },
    write: (job) => (job.style === "html" && job.node.childCount === 1 ? job.inside : delimiters(job, "core/table", `<figure${fullTag(job)}>${job.inside}</figure>`)),
    usual: "wp-block-table",
    plain: true,
    placeInside: () => "part",
    dropsTag: true,
    aligns: OF_BOX,
    insert: [{ name: "table", label, icon: "table", order: 90, words: "grid rows columns tabelle zeilen spalten", classic: true, make: () => makeTable(3, 3, true) }],
    menu: {
      checks: (state) => {
        const table = find(state, "table")?.node;
        if (table === undefined) return null;
        const captioned = (find(state, "table_figure")?.node.childCount ?? 0) > 1;
        return { toggle_head: sectionOf(table.firstChild) === "head", toggle_foot: sectionOf(table.lastChild) === "foot", toggle_caption: captioned };
      },
      Menu: TableMenu,
    },
    keys: { Enter: cellBreak, Tab: goToNextCell(1), "Shift-Tab": goToNextCell(-1) },
  },
  table: {
    order: 90,
    spec: { content: "table_row+", tableRole: "table", isolating: true, attrs: common, toDOM: (node) => ["table", looks(attrsOf(node).tag), ["tbody", 0]] },
    label,
    write: ({ node, inside, writer }) => {
      const open = attrsOf(node).tag ?? (writer.classic ? "" : ' class="has-fixed-layout"');
      return `<table${open}><${tagOf(node.firstChild)}>${inside}</${tagOf(node.lastChild)}></table>`;
    },
    placeInside: () => "part",
    between: (before, row) => (tagOf(before) === tagOf(row) ? "" : `</${tagOf(before)}><${tagOf(row)}>`),
    // The ends have the tags of the first and last section.
    keepsEnds: (node, read) => sectionOf(node.firstChild) === sectionOf(read.firstChild) && sectionOf(node.lastChild) === sectionOf(read.lastChild),
    dropsTag: true,
  },
  table_row: {
    order: 90,
    spec: {
      content: "(table_cell | table_header)*",
      tableRole: "row",
      attrs: { ...common, section: { default: "body" } },
      toDOM: (node) => ["tr", { "data-section": node.attrs["section"] as string }, 0],
      parseDOM: [{ tag: "tr" }],
    },
    write: partElement("tr"),
    placeInside: () => "part",
    dropsTag: true,
  },
  table_cell: cell("td", "cell"),
  table_header: cell("th", "header_cell"),
} satisfies Kinds;
