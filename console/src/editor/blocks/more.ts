/** Where the excerpt ends. */
import { textsOf } from "../../i18n";
import { objectBlock, plainObject } from "../element";
import { object as written } from "../generate";
import type { Kinds } from "../kind";
import { object } from "../specs";
import { ObjectView } from "../views";

const say = textsOf({ en: { more: "Read more" }, de: { more: "Weiterlesen" } });
const label = () => say("more");

export default {
  more: {
    order: 330,
    spec: object("more", { source: null }),
    label,
    read: { "core/more": objectBlock("more", /^\s*<!--more[\s\S]*-->\s*$/) },
    elements: { "!--more": plainObject("more") },
    write: written("core/more", "<!--more-->"),
    plain: true,
    view: (node) => new ObjectView(node),
    insert: [{ label, icon: "more", order: 310, words: "excerpt readmore weiterlesen", classic: true }],
  },
} satisfies Kinds;
