/** Page breaks. */
import { textsOf } from "../../i18n";
import { objectBlock, plainObject } from "../element";
import { object as written } from "../generate";
import type { Kinds } from "../kind";
import { object } from "../specs";
import { ObjectView } from "../views";

const say = textsOf({ en: { nextpage: "Page break" }, de: { nextpage: "Seitenumbruch" } });
const label = () => say("nextpage");

export default {
  nextpage: {
    order: 340,
    spec: object("nextpage", { source: null }),
    label,
    read: { "core/nextpage": objectBlock("nextpage", /^\s*<!--nextpage-->\s*$/) },
    elements: { "!--nextpage": plainObject("nextpage") },
    write: written("core/nextpage", "<!--nextpage-->"),
    plain: true,
    view: (node) => new ObjectView(node),
    insert: [{ label, icon: "page", order: 320, words: "page break seitenumbruch", classic: true }],
  },
} satisfies Kinds;
