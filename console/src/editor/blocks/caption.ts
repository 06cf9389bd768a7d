/** Captions of galleries and tables; those of other figures are their text. */
import { t } from "../../i18n";
import { attrsOf } from "../schema";
import type { Kinds } from "../kind";
import { text } from "../specs";

export default {
  caption: {
    spec: text("figcaption", { group: "", selectable: false, parseDOM: [{ tag: "figcaption" }] }),
    write: ({ node, place, inside }) => {
      const usual = place === "part" ? "wp-element-caption" : "blocks-gallery-caption wp-element-caption";
      return node.childCount === 0 ? "" : `<figcaption${attrsOf(node).tag ?? ` class="${usual}"`}>${inside}</figcaption>`;
    },
    hint: () => t("editor.caption"),
    part: "last",
  },
} satisfies Kinds;
