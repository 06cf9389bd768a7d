/** Buttons, and the row that they stand in. */
import type { Attrs, Node } from "prosemirror-model";
import { textsOf } from "../../i18n";
import { boxBlock } from "../boxes";
import { WIDE } from "../change";
import { textColours } from "../colours";
import { elementIn, elementOf } from "../element";
import { box as written, delimiters, tag } from "../generate";
import { attribute, hasClass, insideOf, withAttributes } from "../html";
import { readInline } from "../inline";
import { PanelText } from "../inputs";
import type { BlockProps, Kinds, Read } from "../kind";
import { looks, safeAddress } from "../looks";
import { attrsOf, schema } from "../schema";
import { box, text } from "../specs";

const say = textsOf({
  en: { buttons: "Buttons", button: "Button", link: "Link to" },
  de: { buttons: "Buttons", button: "Button", link: "Link zu" },
});

const readButton: Read = (reader, block, place) => {
  const found = elementIn(block, /^div$/);
  const link = found === null ? null : elementOf(found.inside);
  const content = link !== null && /^(?:a|button|span)$/.test(link.name) ? readInline(link.inside, "flow") : null;
  if (found === null || link === null || content === null) return null;
  const parts = { head: block.open + found.head + link.head, inside: link.inside, tail: link.tail + found.tail + (block.close ?? ""), place };
  const attrs = { style: "block", json: block.json, tag: found.tag ?? "", link: link.head.trim() };
  return reader.make(parts, (slice) => schema.node("button", { slice, ...attrs }, content));
};

/** The opening tag of the link that is the button, and its name. */
function linkOf(node: Node): { open: string; name: string } {
  const open = (node.attrs["link"] as string | null) ?? '<a class="wp-block-button__link wp-element-button">';
  return { open, name: /^<([a-z]+)/.exec(open)?.[1] ?? "a" };
}

/** Attributes of a button that leads somewhere. */
export function withButtonLink(node: Node, href: string): Attrs {
  const safe = safeAddress(href);
  return { ...node.attrs, link: `<a${withAttributes(insideOf(linkOf(node).open), { href: safe === "" ? null : safe })}>` };
}

function ButtonDetails({ node, set }: BlockProps) {
  const href = attribute(insideOf((node.attrs["link"] as string | null) ?? ""), "href") ?? "";
  return <PanelText label={say("link")} value={href} mode="url" onChange={(address) => set(withButtonLink(node, address))} />;
}

export default {
  buttons: {
    order: 300,
    spec: box("buttons", "button+", { draggable: true }, { el: "div" }),
    label: () => say("buttons"),
    read: { "core/buttons": boxBlock("buttons", /^div$/, /^button$/) },
    write: written("core/buttons"),
    usual: "wp-block-buttons",
    movesChildren: true,
    aligns: WIDE,
    insert: [{ label: () => say("buttons"), icon: "block", order: 190, words: "cta action knopf schaltfläche", make: () => schema.node("buttons", null, [schema.node("button")]) }],
  },
  button: {
    order: 300,
    spec: text("div", { parseDOM: [], toDOM: (node) => ["div", { "data-kind": "button", ...looks(attrsOf(node).tag) }, ["span", 0]] }, { link: null }),
    label: () => say("button"),
    read: { "core/button": readButton },
    write: (job) => {
      const { open, name } = linkOf(job.node);
      return delimiters(job, "core/button", `<div${tag(job)}>${open}${job.inside}</${name}></div>`);
    },
    usual: "wp-block-button",
    hint: () => say("button"),
    colours: textColours,
    isCurrent: (node) => node.attrs["link"] === null || hasClass(node.attrs["link"] as string, "wp-element-button"),
    withTag: (node, change) => {
      const { open, name } = linkOf(node);
      return { ...node.attrs, link: `<${name}${change(insideOf(open))}>` };
    },
    Details: ButtonDetails,
    // The next one leads somewhere else.
    split: (node) => ({ type: node.type, attrs: {} }),
  },
} satisfies Kinds;
