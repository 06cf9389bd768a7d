/** Verses: text whose line ends stay. */
import { textsOf } from "../../i18n";
import { OF_TEXT } from "../change";
import { textColours } from "../colours";
import { textBlock } from "../element";
import { element } from "../generate";
import type { Kinds } from "../kind";
import { looks } from "../looks";
import { attrsOf } from "../schema";
import { text } from "../specs";

const say = textsOf({ en: { verse: "Verse" }, de: { verse: "Vers" } });
const label = () => say("verse");

export default {
  verse: {
    order: 40,
    spec: text("pre", { whitespace: "pre", parseDOM: [], toDOM: (node) => ["pre", { "data-kind": "verse", ...looks(attrsOf(node).tag) }, 0] }),
    label,
    read: { "core/verse": textBlock("verse", /^pre$/, "pre") },
    write: element("pre", "core/verse"),
    usual: "wp-block-verse",
    plain: true,
    aligns: OF_TEXT,
    textAlign: "textAlign",
    colours: textColours,
    texts: [{ name: "verse", label }],
    insert: [{ label, icon: "text", order: 280, words: "poem poetry gedicht lyrik" }],
  },
} satisfies Kinds;
