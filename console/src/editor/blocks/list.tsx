/** Lists and their items. */
import { wrappingInputRule } from "prosemirror-inputrules";
import type { Attrs, Node } from "prosemirror-model";
import { liftListItem, sinkListItem, splitListItem, wrapInList } from "prosemirror-schema-list";
import type { Command, EditorState, Transaction } from "prosemirror-state";
import { textsOf } from "../../i18n";
import { boxOf, frameOf } from "../boxes";
import { textColours } from "../colours";
import { find } from "../commands";
import { childrenOf, onlyText } from "../element";
import { delimiters, tag, usualTag } from "../generate";
import { delimited, jsonWith } from "../grammar";
import { type Token, attribute, tokens, withAttributes } from "../html";
import { closing, readInline } from "../inline";
import { PanelText } from "../inputs";
import type { BlockProps, Kinds, Read, ReadElement } from "../kind";
import { looks } from "../looks";
import type { Found, Reader, Series } from "../read";
import { attrsOf, common, schema, typeOf } from "../schema";
import type { Place } from "../slices";
import { box } from "../specs";

const say = textsOf({
  en: { list: "List", ordered: "Numbered list", item: "List item", start: "Start value", reversed: "Reverse order", indent: "Indent", outdent: "Outdent" },
  de: { list: "Liste", ordered: "Nummerierte Liste", item: "Listenpunkt", start: "Startwert", reversed: "Reihenfolge umkehren", indent: "Einrücken", outdent: "Ausrücken" },
});

/* ---- reading */

/** A list without delimiters, without white space around it. */
function readList(reader: Reader, html: string, place: Place): Node | null {
  const list = reader.deeper(() => readListParts(reader, html, place === "flow" ? "flow" : "html"));
  if (list === null) return null;
  return reader.make({ ...list.parts, place }, (slice) => schema.node("list", { slice, style: "html", ...list.attrs }, list.children));
}

/** What a list is made of: also of one with delimiters around it. */
function readListParts(reader: Reader, html: string, place: Place) {
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
function itemOf(
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

/* ---- commands */

/** Makes a list of the selected texts, changes its kind, or takes it away. */
export function toggleList(ordered: boolean): Command {
  return (state, dispatch) => {
    const list = find(state, "list");
    if (list === null) return wrapInList(typeOf("list"), { ordered })(state, dispatch);
    if (list.node.attrs["ordered"] === ordered) return liftListItem(typeOf("list_item"))(state, dispatch);
    dispatch?.(state.tr.setNodeMarkup(list.pos, null, { ...list.node.attrs, ordered }));
    return true;
  };
}

/** Puts an item into a list below the item before it; a list that begins with it is numbered where the one around it is. */
export const indent: Command = (state, dispatch) => {
  const outer = find(state, "list");
  const numbered = (tr: Transaction): Transaction => {
    const { $from } = tr.selection;
    const depth = Array.from({ length: $from.depth }, (_, place) => $from.depth - place).find((at) => $from.node(at).type.name === "list");
    const list = depth === undefined ? null : $from.node(depth);
    if (depth === undefined || list === null || list.childCount > 1 || list.attrs["ordered"] === outer?.node.attrs["ordered"]) return tr;
    return tr.setNodeMarkup($from.before(depth), null, { ...list.attrs, ordered: outer?.node.attrs["ordered"] });
  };
  return sinkListItem(typeOf("list_item"))(state, dispatch && ((tr) => dispatch(numbered(tr))));
};

export const outdent: Command = (state, dispatch) => liftListItem(typeOf("list_item"))(state, dispatch);

const isOn = (ordered: boolean) => (state: EditorState) => find(state, "list")?.node.attrs["ordered"] === ordered;

/** Attributes of a list that begins with a number, or counts down. */
export function withNumbers(node: Node, changes: { start?: number | null; reversed?: boolean }): Attrs {
  const values: Record<string, unknown> = {};
  const written: Record<string, string | null> = {};
  if (changes.start !== undefined) {
    values["start"] = changes.start ?? undefined;
    written["start"] = changes.start === null ? null : String(changes.start);
  }
  if (changes.reversed !== undefined) {
    values["reversed"] = changes.reversed ? true : undefined;
    written["reversed"] = changes.reversed ? "" : null;
  }
  const tag = attrsOf(node).tag ?? usualTag(node, false);
  return { ...node.attrs, json: jsonWith(attrsOf(node).json, values), tag: withAttributes(tag, written) };
}

function ListDetails({ node, set }: BlockProps) {
  const tag = attrsOf(node).tag ?? "";
  return (
    <>
      <PanelText
        label={say("start")}
        value={attribute(tag, "start") ?? "1"}
        mode="numeric"
        onChange={(text) => set(withNumbers(node, { start: /^-?\d{1,9}$/.test(text) && text !== "1" ? Number(text) : null }))}
      />
      <label class="check">
        <input type="checkbox" checked={attribute(tag, "reversed") !== null} onChange={(event) => set(withNumbers(node, { reversed: event.currentTarget.checked }))} />
        {say("reversed")}
      </label>
    </>
  );
}

const makeList = (ordered: boolean) => () => schema.node("list", { ordered }, [schema.node("list_item", null, [schema.node("paragraph")])]);
const readElement: ReadElement = (reader, text, _, place) => readList(reader, text, place);
const rule = (pattern: RegExp, ordered: boolean) => wrappingInputRule(pattern, typeOf("list"), { ordered }, ordered ? (_, node) => node.attrs["ordered"] === true : undefined);

export default {
  list: {
    order: 50,
    spec: box(
      "list",
      "list_item+",
      {
        toDOM: (node) => {
          const start = attribute(attrsOf(node).tag ?? "", "start");
          const shown = { ...looks(attrsOf(node).tag), ...(start !== null && /^-?\d{1,9}$/.test(start) ? { start } : {}) };
          return [node.attrs["ordered"] === true ? "ol" : "ul", shown, 0];
        },
        parseDOM: [{ tag: "ul" }, { tag: "ol", attrs: { ordered: true } }],
      },
      { ordered: false },
    ),
    label: (node) => say(node.attrs["ordered"] === true ? "ordered" : "list"),
    read: { "core/list": readListBlock },
    elements: { ul: readElement, ol: readElement },
    write: (job) => {
      const ordered = job.node.attrs["ordered"] as boolean;
      const name = ordered ? "ol" : "ul";
      const inside = job.style === "html" && job.place !== "flow" ? `\n\t${job.inside}\n` : job.inside;
      return delimiters(job, "core/list", `<${name}${tag(job)}>${inside}</${name}>`, { ordered: ordered ? true : undefined });
    },
    usual: (node) => (attrsOf(node).style === "old" ? "" : "wp-block-list"),
    plain: true,
    between: (_, __, place) => (place === "html" ? "\n\t" : null),
    movesChildren: true,
    colours: textColours,
    Details: ListDetails,
    hasDetails: (node) => node.attrs["ordered"] === true,
    insert: [
      { label: () => say("list"), icon: "list", order: 40, words: "bullet bulleted unordered points ul liste aufzählung punkte", classic: true, make: makeList(false) },
      { name: "ordered_list", label: () => say("ordered"), icon: "list-ordered", order: 50, words: "numbered ordered numbers ol nummerierte nummern liste", classic: true, make: makeList(true) },
    ],
    tools: [
      { name: "list", icon: "list", label: () => say("list"), isOn: isOn(false), run: toggleList(false) },
      { name: "ordered_list", icon: "list-ordered", label: () => say("ordered"), isOn: isOn(true), run: toggleList(true) },
    ],
    actions: [
      { name: "indent", icon: "chevron-right", label: () => say("indent"), run: indent, always: true },
      { name: "outdent", icon: "chevron-left", label: () => say("outdent"), run: outdent, always: true },
    ],
    keys: { Tab: indent, "Shift-Tab": outdent, "Mod-]": indent, "Mod-[": outdent, "Mod-Shift-7": toggleList(true), "Mod-Shift-8": toggleList(false) },
    rules: () => [rule(/^\s*[-*+]\s$/, false), rule(/^\s*1[.)]\s$/, true)],
  },
  list_item: {
    order: 50,
    spec: { content: "paragraph list*", defining: true, selectable: false, attrs: common, parseDOM: [{ tag: "li" }], toDOM: () => ["li", 0] },
    label: () => say("item"),
    read: { "core/list-item": readListItem },
    write: ({ node, place, inside }) => {
      const html = `<li${attrsOf(node).tag ?? ""}>${inside}</li>`;
      return place === "inner" ? delimited("core/list-item", attrsOf(node).json, `\n${html}\n`) : html;
    },
    placeInside: (place) => place,
    // White space between lists in an item would become a part of its text.
    between: (_, __, place) => (place === "inner" ? "" : place === "html" ? "\n" : null),
    ownText: true,
    keys: { Enter: (state, dispatch) => splitListItem(typeOf("list_item"))(state, dispatch) },
  },
} satisfies Kinds;
