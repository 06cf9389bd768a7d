/** Hints in what is empty: what is to be typed there. */
import type { Node } from "prosemirror-model";
import type { EditorState } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { t } from "../i18n";
import { kindOf } from "./kind";

/** An empty part of a block, by its place inside the block. */
interface Part {
  from: number;
  size: number;
  text: string;
}

/** Empty parts by node. A key changes the nodes around the cursor; of all others it is known. */
const known = new WeakMap<Node, readonly Part[]>();
const NONE: readonly Part[] = [];

/** Parts with hints of their own: a caption, the source of a quote. */
function partsIn(node: Node): readonly Part[] {
  if (node.isAtom || node.isTextblock) {
    const text = node.isTextblock && node.content.size === 0 ? kindOf(node).hint?.() : undefined;
    return text === undefined ? NONE : [{ from: 0, size: node.nodeSize, text }];
  }
  const before = known.get(node);
  if (before !== undefined) return before;
  const found: Part[] = [];
  node.forEach((child, offset) => {
    for (const part of partsIn(child)) found.push({ ...part, from: part.from + offset + 1 });
  });
  known.set(node, found.length === 0 ? NONE : found);
  return found;
}

function hinted(from: number, to: number, text: string): Decoration {
  return Decoration.node(from, to, { class: "editor-hint", "data-placeholder": text });
}

export function hints(state: EditorState, placeholder: string | undefined): DecorationSet {
  const found: Decoration[] = [];
  const { $from } = state.selection;
  const { doc } = state;
  const hint = placeholder ?? t("editor.placeholder");
  const only = doc.childCount === 1 ? doc.firstChild : null;
  if (only !== null && only.type.name === "paragraph" && only.content.size === 0) {
    found.push(hinted(0, only.nodeSize, hint));
  } else if ($from.parent.type.name === "paragraph" && $from.parent.content.size === 0 && $from.depth > 0) {
    const inItem = kindOf($from.node(-1)).ownText === true;
    if (!inItem) found.push(hinted($from.before(), $from.after(), hint));
  }
  doc.forEach((block, offset) => {
    for (const part of partsIn(block)) found.push(hinted(offset + part.from, offset + part.from + part.size, part.text));
  });
  return found.length === 0 ? DecorationSet.empty : DecorationSet.create(doc, found);
}
