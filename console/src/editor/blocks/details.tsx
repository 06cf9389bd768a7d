/** A line that is always shown, and blocks that are unfolded. */
import type { Attrs, Node } from "prosemirror-model";
import { textsOf } from "../../i18n";
import { boxOf, frameOf } from "../boxes";
import { WIDE } from "../change";
import { textColours } from "../colours";
import { childrenOf, readPart } from "../element";
import { element, partElement, usualTag } from "../generate";
import { jsonWith } from "../grammar";
import { attribute, withAttributes } from "../html";
import type { BlockProps, Kinds, Read } from "../kind";
import { attrsOf, schema } from "../schema";
import { box, text } from "../specs";

const say = textsOf({
  en: { details: "Details", summary: "Summary", open: "Open by default" },
  de: { details: "Details", summary: "Zusammenfassung", open: "Standardmäßig geöffnet" },
});
const label = () => say("details");

const read: Read = (reader, block, place) => {
  const frame = frameOf(block);
  const [first, ...others] = frame?.pieces ?? [];
  if (frame?.name !== "details" || typeof first !== "string") return null;
  const end = first.indexOf("</summary>") + "</summary>".length;
  const summary = end < "</summary>".length ? null : readPart(reader, first.slice(0, end), "summary", "summary", "inner");
  const series = summary === null ? null : childrenOf(reader, [first.slice(end), ...others], null);
  if (summary === null || series === null) return null;
  series.found.unshift({ before: /^\s*/.exec(first)?.[0] ?? "", node: summary });
  return boxOf(reader, "details", block, frame, series, place, {});
};

const tagOf = (node: Node) => attrsOf(node).tag ?? usualTag(node, false);

/** Whether the details are unfolded at first. */
export function isUnfolded(node: Node): boolean {
  return attribute(tagOf(node), "open") !== null;
}

export function withUnfolded(node: Node, open: boolean): Attrs {
  return { ...node.attrs, tag: withAttributes(tagOf(node), { open: open ? "" : null }), json: jsonWith(attrsOf(node).json, { showContent: open ? true : undefined }) };
}

function DetailsSettings({ node, set }: BlockProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isUnfolded(node)} onChange={(event) => set(withUnfolded(node, event.currentTarget.checked))} />
      {say("open")}
    </label>
  );
}

export default {
  details: {
    order: 290,
    spec: box("details", "summary block*", { isolating: true, draggable: true }),
    label,
    read: { "core/details": read },
    write: element("details", "core/details"),
    usual: "wp-block-details",
    aligns: WIDE,
    colours: textColours,
    Settings: DetailsSettings,
    insert: [
      {
        label,
        icon: "chevron-right",
        order: 180,
        words: "accordion toggle faq spoiler collapse akkordeon aufklappen",
        make: () => schema.node("details", null, [schema.node("summary"), schema.node("paragraph")]),
      },
    ],
  },
  summary: {
    order: 290,
    spec: text("summary", { group: "", selectable: false, parseDOM: [], toDOM: () => ["div", { "data-kind": "summary" }, 0] }),
    label: () => say("summary"),
    write: partElement("summary"),
    hint: () => say("summary"),
    part: "first",
  },
} satisfies Kinds;
