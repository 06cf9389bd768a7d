/** Paragraphs: what a text is where nothing else is said. */
import { t } from "../../i18n";
import { OF_TEXT } from "../change";
import { textColours } from "../colours";
import { plainText, textBlock } from "../element";
import { element } from "../generate";
import type { Kinds } from "../kind";
import { text } from "../specs";

const label = () => t("editor.paragraph");
const write = element("p", "core/paragraph");

export default {
  paragraph: {
    order: 0,
    spec: text("p", { defining: false }),
    label,
    read: { "core/paragraph": textBlock("paragraph", /^p$/, "flow") },
    elements: { p: plainText("paragraph", null) },
    write: (job) => (job.place === "part" || job.style === "bare" ? job.inside : write(job)),
    plain: true,
    aligns: OF_TEXT,
    textAlign: "align",
    colours: textColours,
    texts: [{ name: "paragraph", label }],
    insert: [{ label, icon: "text", order: 10, words: "text plain absatz", classic: true, run: (session) => session.setText("paragraph") }],
  },
} satisfies Kinds;
