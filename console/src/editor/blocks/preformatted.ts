/** Text whose white space stays. */
import { textsOf } from "../../i18n";
import { textColours } from "../colours";
import { plainText, textBlock } from "../element";
import { element } from "../generate";
import type { Kinds } from "../kind";
import { looks } from "../looks";
import { attrsOf } from "../schema";
import { text } from "../specs";

const say = textsOf({ en: { preformatted: "Preformatted" }, de: { preformatted: "Vorformatiert" } });
const label = () => say("preformatted");

export default {
  preformatted: {
    order: 30,
    spec: text("pre", { whitespace: "pre", parseDOM: [], toDOM: (node) => ["pre", { "data-kind": "preformatted", ...looks(attrsOf(node).tag) }, 0] }),
    label,
    read: { "core/preformatted": textBlock("preformatted", /^pre$/, "pre") },
    elements: { pre: plainText("preformatted", "pre") },
    write: element("pre", "core/preformatted"),
    usual: "wp-block-preformatted",
    plain: true,
    colours: textColours,
    texts: [{ name: "preformatted", label }],
    insert: [{ label, icon: "code", order: 290, words: "monospace pre ascii", classic: true }],
  },
} satisfies Kinds;
