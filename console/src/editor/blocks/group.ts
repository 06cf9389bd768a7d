/** Groups of blocks. */
import { textsOf } from "../../i18n";
import { BOX, boxBlock } from "../boxes";
import { WIDE } from "../change";
import { textColours } from "../colours";
import { box as written } from "../generate";
import type { Kinds } from "../kind";
import { schema } from "../schema";
import { box } from "../specs";

const say = textsOf({ en: { group: "Group" }, de: { group: "Gruppe" } });
const label = () => say("group");

export default {
  group: {
    order: 260,
    spec: box("group", "block+", { draggable: true }, { el: "div" }),
    label,
    read: { "core/group": boxBlock("group", BOX, null) },
    write: written("core/group"),
    usual: "wp-block-group",
    aligns: WIDE,
    colours: textColours,
    insert: [
      {
        label,
        icon: "block",
        order: 150,
        words: "section container box gruppe abschnitt",
        make: () => schema.node("group", { json: '{"layout":{"type":"constrained"}}' }, [schema.node("paragraph")]),
      },
    ],
  },
} satisfies Kinds;
