/** Quotes, pullquotes, and the line that says where they are from. */
import { lift, wrapIn } from "prosemirror-commands";
import { wrappingInputRule } from "prosemirror-inputrules";
import type { Node } from "prosemirror-model";
import { type Command, TextSelection } from "prosemirror-state";
import { textsOf } from "../../i18n";
import { boxOf, frameOf } from "../boxes";
import { OF_TEXT } from "../change";
import { textColours } from "../colours";
import { find } from "../commands";
import { childrenOf, elementIn, elementOf, partsOf, readPart } from "../element";
import { delimiters, element, tag } from "../generate";
import type { Kind, Kinds, Read, ReadElement } from "../kind";
import { looks } from "../looks";
import type { Reader, Series } from "../read";
import { attrsOf, schema, typeOf } from "../schema";
import type { Place } from "../slices";
import { box, text } from "../specs";

const say = textsOf({
  en: { quote: "Quote", pullquote: "Pullquote", cite: "Citation", add: "Add citation" },
  de: { quote: "Zitat", pullquote: "Hervorgehobenes Zitat", cite: "Quellenangabe", add: "Quellenangabe hinzufügen" },
});

const CITE = /<cite(?:\s[^<>]*)?>(?:(?!<cite|<\/cite)[\s\S])*<\/cite>\s*$/;

/** Adds the line of a source to what was read; false where it cannot be edited. */
function addCite(reader: Reader, series: Series, cite: string, place: Place): boolean {
  if (cite === "") return true;
  const node = readPart(reader, cite, "cite", "cite", place);
  if (node === null) return false;
  series.found.push({ before: series.rest, node });
  series.rest = /\s*$/.exec(cite)?.[0] ?? "";
  return true;
}

const readQuote: Read = (reader, block, place) => {
  const frame = frameOf(block);
  if (frame === null || frame.name !== "blockquote") return null;
  const pieces = frame.pieces;
  const last = pieces[pieces.length - 1];
  const cite = typeof last === "string" ? (CITE.exec(last)?.[0] ?? "") : "";
  if (typeof last === "string") pieces[pieces.length - 1] = last.slice(0, last.length - cite.length);
  const text = pieces.length === 1 ? (pieces[0] as string) : null;
  const old = text !== null && text.trim() !== "";
  const series = old ? reader.flow(text, "flow") : childrenOf(reader, pieces, null);
  if (series === null || (old && series.found.some(({ node }) => node.type.name === "verbatim"))) return null;
  if (series.found.length === 0 && (cite !== "" || text === null)) return null;
  if (!addCite(reader, series, cite, old ? "flow" : "inner")) return null;
  return boxOf(reader, "quote", block, frame, series, place, { style: old ? "old" : "block" });
};

const readPlain: ReadElement = (reader, html, token, place) => {
  const parts = partsOf(html, token, place);
  if (parts === null) return null;
  const { found, rest } = reader.deeper(() => reader.flow(parts.inside, place === "flow" ? "flow" : "html")) ?? { found: [], rest: "" };
  if (found.length === 0 || found.some(({ node }) => node.type.name === "verbatim")) return null;
  const lead = found[0]?.before ?? "";
  const inside = parts.inside.slice(lead.length, parts.inside.length - rest.length);
  return reader.make({ head: parts.head + lead, inside, tail: rest + parts.tail, place }, (slice) =>
    schema.node("quote", { slice, style: "html", tag: parts.tag }, reader.children(found)),
  );
};

const readPullquote: Read = (reader, block, place) => {
  const figure = elementIn(block, /^figure$/);
  const quote = figure === null ? null : elementOf(figure.inside);
  if (figure === null || quote?.name !== "blockquote") return null;
  const cite = CITE.exec(quote.inside)?.[0] ?? "";
  const series = reader.flow(quote.inside.slice(0, quote.inside.length - cite.length), "flow");
  if (series.found.length !== 1 || series.found[0]?.node.type.name !== "paragraph" || !addCite(reader, series, cite, "flow")) return null;
  const frame = { name: "figure", tag: figure.tag ?? "", head: block.open + figure.head + quote.head, pieces: [], tail: quote.tail + figure.tail + (block.close ?? "") };
  return boxOf(reader, "pullquote", block, frame, series, place, { inner: quote.tag ?? "" });
};

/** Puts the selected blocks into a quote, or takes them out. */
export const toggleQuote: Command = (state, dispatch) => {
  const quote = find(state, "quote");
  if (quote === null) return wrapIn(typeOf("quote"))(state, dispatch);
  if (quote.node.lastChild?.type.name !== "cite") return lift(state, dispatch);
  if (dispatch !== undefined) {
    const inside: Node[] = [];
    quote.node.forEach((child) => {
      if (child.type.name !== "cite") inside.push(child);
      else if (child.content.size > 0) inside.push(schema.node("paragraph", null, child.content));
    });
    const tr = state.tr.replaceWith(quote.pos, quote.pos + quote.node.nodeSize, inside);
    dispatch(tr.setSelection(TextSelection.near(tr.doc.resolve(Math.max(1, state.selection.from - 1)))).scrollIntoView());
  }
  return true;
};

/** Adds a line for the source of a quote, and goes there. */
const addSource: Command = (state, dispatch) => {
  const quote = find(state, "quote", "pullquote");
  if (quote === null || quote.node.lastChild?.type.name === "cite") return false;
  if (dispatch !== undefined) {
    const at = quote.pos + quote.node.nodeSize - 1;
    const tr = state.tr.insert(at, schema.node("cite"));
    dispatch(tr.setSelection(TextSelection.create(tr.doc, at + 1)).scrollIntoView());
  }
  return true;
};

const common = { order: 60, aligns: OF_TEXT, textAlign: "textAlign", colours: textColours } as const satisfies Partial<Kind>;
const make = (kind: string) => () => schema.node(kind, null, [schema.node("paragraph"), schema.node("cite")]);

export default {
  quote: {
    ...common,
    spec: box("quote", "block+ cite?", { toDOM: (node) => ["blockquote", looks(attrsOf(node).tag), 0], parseDOM: [{ tag: "blockquote" }] }),
    label: () => say("quote"),
    read: { "core/quote": readQuote },
    elements: { blockquote: readPlain },
    write: element("blockquote", "core/quote"),
    usual: "wp-block-quote",
    plain: true,
    // Quotes of before WordPress 6.0 have only paragraphs in them: with anything else they are written as of today.
    outgrown: (node, fits) => node.children.some((child) => child.type.name !== "paragraph" && child.type.name !== "cite" && !fits(child)),
    insert: [{ label: () => say("quote"), icon: "quote", order: 80, words: "blockquote citation zitat", classic: true, make: make("quote") }],
    tools: [{ name: "quote", icon: "quote", label: () => say("quote"), isOn: (state) => find(state, "quote") !== null, run: toggleQuote }],
    actions: [{ name: "cite", icon: "quote", label: () => say("add"), run: addSource }],
    rules: () => [wrappingInputRule(/^\s*>\s$/, typeOf("quote"))],
  },
  pullquote: {
    ...common,
    spec: box("pullquote", "paragraph cite?", { isolating: true }, { inner: "" }),
    label: () => say("pullquote"),
    read: { "core/pullquote": readPullquote },
    write: (job) => delimiters(job, "core/pullquote", `<figure${tag(job)}><blockquote${job.node.attrs["inner"] as string}>${job.inside}</blockquote></figure>`),
    usual: "wp-block-pullquote",
    placeInside: () => "flow",
    insert: [{ label: () => say("pullquote"), icon: "quote", order: 270, words: "quote citation zitat", make: make("pullquote") }],
  },
  cite: {
    order: 60,
    spec: text("cite", { group: "", selectable: false, toDOM: () => ["div", { "data-kind": "cite" }, 0] }),
    write: ({ node, inside }) => (node.childCount === 0 ? "" : `<cite${attrsOf(node).tag ?? ""}>${inside}</cite>`),
    hint: () => say("cite"),
    part: "last",
  },
} satisfies Kinds;
