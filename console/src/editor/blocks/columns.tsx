/** Columns side by side. */
import type { Attrs, Node } from "prosemirror-model";
import { textsOf } from "../../i18n";
import { BOX, boxBlock } from "../boxes";
import { WIDE } from "../change";
import { textColours } from "../colours";
import { box as written, usualTag } from "../generate";
import { jsonWith, readJson } from "../grammar";
import { withStyle } from "../html";
import { Percent } from "../inputs";
import type { BlockProps, Kinds, Read, Row } from "../kind";
import { attrsOf, schema } from "../schema";
import { box } from "../specs";

const say = textsOf({
  en: { columns: "Columns", column: "Column", two: "Two columns", three: "Three columns", width: "Width in percent" },
  de: { columns: "Spalten", column: "Spalte", two: "Zwei Spalten", three: "Drei Spalten", width: "Breite in Prozent" },
});

/** The width of a column in per cent; null where it has its share, or a width in another unit. */
export function columnWidth(node: Node): number | null {
  const told = readJson(attrsOf(node).json)?.["width"];
  const found = typeof told === "number" ? String(told) : typeof told === "string" ? /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(told)?.[1] : undefined;
  return found === undefined ? null : Number(found);
}

export function withColumnWidth(node: Node, width: number | null): Attrs {
  const text = width === null ? null : `${width}%`;
  return { ...node.attrs, tag: withStyle(attrsOf(node).tag ?? usualTag(node, false), { "flex-basis": text }), json: jsonWith(attrsOf(node).json, { width: text ?? undefined }) };
}

export function makeColumns(count: number): Node {
  return schema.node("columns", null, Array.from({ length: count }, () => schema.node("column", null, [schema.node("paragraph")])));
}

const row = (count: number, key: "two" | "three", order: number): Row => ({
  name: `columns-${count}`,
  label: () => say(key),
  icon: "columns",
  order,
  words: "layout grid spalten",
  make: () => makeColumns(count),
});

const readColumn: Read = boxBlock("column", BOX, null);

function ColumnSettings({ node, set }: BlockProps) {
  return <Percent label={say("width")} value={columnWidth(node)} empty onChange={(width) => set(withColumnWidth(node, width))} />;
}

export default {
  columns: {
    order: 250,
    spec: box("columns", "column+", { isolating: true, draggable: true }, { el: "div" }),
    label: () => say("columns"),
    read: { "core/columns": boxBlock("columns", BOX, /^column$/) },
    write: written("core/columns"),
    usual: "wp-block-columns",
    movesChildren: true,
    aligns: WIDE,
    colours: textColours,
    insert: [row(2, "two", 130), row(3, "three", 140)],
  },
  column: {
    order: 250,
    spec: box("column", "block+", { group: "", isolating: true }, { el: "div" }),
    label: () => say("column"),
    read: { "core/column": (reader, block, place) => (place === "inner" ? readColumn(reader, block, place) : null) },
    write: written("core/column"),
    usual: "wp-block-column",
    colours: textColours,
    Settings: ColumnSettings,
  },
} satisfies Kinds;
