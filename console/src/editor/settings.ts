/**
 * Blocks that have something to set.
 */
import type { Node } from "prosemirror-model";
import type { EditorState } from "prosemirror-state";
import { coloursOf, isCurrent } from "./colours";
import { around } from "./commands";
import { kindOf } from "./kind";

/** Blocks around the selection that have something to set, the innermost first. */
export function settable(state: EditorState): { node: Node; pos: number }[] {
  const classic = state.doc.attrs["classic"] === true;
  return [...around(state)].filter(({ node }) => node.isBlock && ((kindOf(node).Settings !== undefined && isCurrent(node)) || coloursOf(node, classic).length > 0));
}
