/** Headings of six levels. */
import { textblockTypeInputRule } from "prosemirror-inputrules";
import { textsOf } from "../../i18n";
import { OF_TEXT } from "../change";
import { textColours } from "../colours";
import { setText } from "../commands";
import { plainText, textBlock } from "../element";
import { delimiters, tag } from "../generate";
import type { Kinds, Row } from "../kind";
import { looks } from "../looks";
import { attrsOf, typeOf } from "../schema";
import { text } from "../specs";

const say = textsOf({ en: { heading: "Heading {level}" }, de: { heading: "Überschrift {level}" } });
const LEVELS = [1, 2, 3, 4, 5, 6];
const levelOf = (name: string) => ({ level: Number(name[1]) });

const row = (level: number, order: number): Row => ({
  name: `heading-${level}`,
  label: () => say("heading", { level }),
  icon: "heading",
  order,
  words: `h${level} title subtitle überschrift titel`,
  classic: true,
  run: (session) => session.setText(`heading-${level}`),
});

export default {
  heading: {
    order: 10,
    spec: text(
      "h2",
      {
        parseDOM: LEVELS.map((level) => ({ tag: `h${level}`, attrs: { level } })),
        toDOM: (node) => [`h${node.attrs["level"] as number}`, looks(attrsOf(node).tag), 0],
      },
      { level: 2 },
    ),
    label: (node) => say("heading", { level: node.attrs["level"] as number }),
    read: { "core/heading": textBlock("heading", /^h[1-6]$/, "flow", ({ name }) => levelOf(name)) },
    elements: Object.fromEntries(LEVELS.map((level) => [`h${level}`, plainText("heading", null, levelOf)])),
    write: (job) => {
      const level = job.node.attrs["level"] as number;
      return delimiters(job, "core/heading", `<h${level}${tag(job)}>${job.inside}</h${level}>`, { level: level === 2 ? undefined : level });
    },
    usual: "wp-block-heading",
    plain: true,
    outline: (node) => node.attrs["level"] as number,
    aligns: OF_TEXT,
    textAlign: "textAlign",
    colours: textColours,
    texts: LEVELS.map((level) => ({ name: `heading-${level}`, label: () => say("heading", { level }), attrs: { level } })),
    insert: [row(2, 20), row(3, 30), row(4, 240), row(5, 250), row(6, 260)],
    keys: Object.fromEntries(LEVELS.map((level) => [`Mod-Alt-${level}`, setText(`heading-${level}`)])),
    rules: () => [textblockTypeInputRule(/^(#{1,6})\s$/, typeOf("heading"), (match) => ({ slice: null, json: null, tag: null, level: (match[1] as string).length }))],
    // A heading is followed by a paragraph.
    split: (node, atEnd) => (atEnd ? { type: typeOf("paragraph"), attrs: { style: attrsOf(node).style === "html" ? "html" : null } } : null),
  },
} satisfies Kinds;
