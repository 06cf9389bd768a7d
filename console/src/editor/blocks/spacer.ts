/** Spacers: room between blocks. */
import { textsOf } from "../../i18n";
import { objectBlock } from "../element";
import { object as written } from "../generate";
import type { Kinds } from "../kind";
import { object } from "../specs";
import { ObjectView } from "../views";

const say = textsOf({ en: { spacer: "Spacer" }, de: { spacer: "Abstandshalter" } });
const label = () => say("spacer");

export default {
  spacer: {
    order: 320,
    spec: object("spacer", { source: null }),
    label,
    read: { "core/spacer": objectBlock("spacer", /^\s*<div(?:\s[^<>]*)?><\/div>\s*$/) },
    write: written("core/spacer", '<div style="height:100px" aria-hidden="true" class="wp-block-spacer"></div>'),
    view: (node) => new ObjectView(node),
    insert: [{ label, icon: "sort", order: 300, words: "space gap margin abstand leerraum" }],
  },
} satisfies Kinds;
