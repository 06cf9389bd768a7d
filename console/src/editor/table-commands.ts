/**
 * Commands for tables.
 */
import type { Node, NodeType } from "prosemirror-model";
import type { Command, Transaction } from "prosemirror-state";
import {
  addColumnAfter,
  addColumnBefore,
  addRowAfter,
  addRowBefore,
  deleteColumn,
  deleteRow,
  mergeCells,
  splitCell,
} from "prosemirror-tables";
import { find } from "./commands";
import { schema } from "./schema";

const types = schema.nodes as Record<string, NodeType>;

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
export function toggleSection(section: "head" | "foot"): Command {
  return (state, dispatch) => {
    const table = find(state, "table");
    if (table === null) return false;
    const index = section === "head" ? 0 : table.node.childCount - 1;
    const row = table.node.child(index);
    const has = row.attrs["section"] === section;
    if (!has && table.node.childCount < 2) return false;
    if (dispatch !== undefined) {
      const type = types[section === "head" && !has ? "table_header" : "table_cell"] as NodeType;
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

export function hasSection(table: Node, section: "head" | "foot"): boolean {
  return (section === "head" ? table.firstChild : table.lastChild)?.attrs["section"] === section;
}

/** Adds a caption to the table, or takes an empty one away. */
export const toggleCaption: Command = (state, dispatch) => {
  const figure = find(state, "table_figure");
  if (figure === null) return false;
  const caption = figure.node.childCount > 1 ? figure.node.lastChild : null;
  const end = figure.pos + figure.node.nodeSize - 1;
  if (caption === null) dispatch?.(state.tr.insert(end, schema.node("caption")));
  else dispatch?.(state.tr.delete(end - caption.nodeSize, end));
  return true;
};

export const deleteTable: Command = (state, dispatch) => {
  const figure = find(state, "table_figure");
  if (figure === null) return false;
  dispatch?.(state.tr.replaceWith(figure.pos, figure.pos + figure.node.nodeSize, schema.node("paragraph")).scrollIntoView());
  return true;
};

export const tableCommands: Record<string, Command> = {
  row_before: inSections(addRowBefore),
  row_after: inSections(addRowAfter),
  column_before: addColumnBefore,
  column_after: addColumnAfter,
  delete_row: deleteRow,
  delete_column: deleteColumn,
  merge_cells: mergeCells,
  split_cell: splitCell,
  toggle_head: toggleSection("head"),
  toggle_foot: toggleSection("foot"),
  toggle_caption: toggleCaption,
  delete_table: deleteTable,
};
