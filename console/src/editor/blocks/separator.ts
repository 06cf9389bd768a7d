/** Separators: lines between blocks. */
import { InputRule } from "prosemirror-inputrules";
import { TextSelection } from "prosemirror-state";
import { textsOf } from "../../i18n";
import { objectBlock, plainObject } from "../element";
import { object as written } from "../generate";
import type { Kinds } from "../kind";
import { schema, typeOf } from "../schema";
import { object } from "../specs";
import { ObjectView, element } from "../views";

const say = textsOf({ en: { separator: "Separator" }, de: { separator: "Trennzeichen" } });
const label = () => say("separator");

/** `---` in an empty paragraph. */
const rule = new InputRule(/^(?:---|—-)$/, (state) => {
  const { $from } = state.selection;
  const index = $from.index(-1);
  if ($from.parent.type.name !== "paragraph" || !$from.node(-1).canReplaceWith(index, index + 1, typeOf("separator"))) return null;
  const tr = state.tr.replaceWith($from.before(), $from.after(), [schema.node("separator"), schema.node("paragraph")]);
  return tr.setSelection(TextSelection.near(tr.doc.resolve($from.before() + 2)));
});

export default {
  separator: {
    order: 310,
    spec: object("separator", { source: null }),
    label,
    read: { "core/separator": objectBlock("separator", /^\s*<hr(?:\s[^<>]*)?\/?>\s*$/) },
    elements: { hr: plainObject("separator") },
    write: written("core/separator", '<hr class="wp-block-separator has-alpha-channel-opacity"/>', "<hr />"),
    plain: true,
    view: (node) => new ObjectView(node, () => [element("hr", "")]),
    insert: [{ label, icon: "minus", order: 120, words: "divider line rule hr trennlinie linie trenner", classic: true }],
    rules: () => [rule],
  },
} satisfies Kinds;
