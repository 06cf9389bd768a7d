/**
 * What can be done with blocks. Each is a ProseMirror command: it says whether it applies, and does it when it gets `dispatch`.
 */
import { setBlockType } from "prosemirror-commands";
import { closeHistory } from "prosemirror-history";
import { Fragment, type Node, type ResolvedPos } from "prosemirror-model";
import { type Command, type EditorState, NodeSelection, Selection, TextSelection, type Transaction } from "prosemirror-state";
import { alignOf, aligned, alignments } from "./change";
import { type Align, isCaptioned, kindOf, kindsOf, takesBlocks, type TextChoice } from "./kind";
import { attrsOf, schema, typeOf } from "./schema";

export interface Place {
  node: Node;
  pos: number;
  parent: Node;
  index: number;
}

/** The block that the selection is in: the innermost that can be moved on its own. */
export function currentBlock(state: EditorState): Place | null {
  const { selection } = state;
  if (selection instanceof NodeSelection && selection.node.isBlock) {
    const place = placeAt(state.doc, selection.from);
    // The only paragraph of a list item, say, moves with its list.
    if (place !== null && movesChildren(place.parent) && !isPart(place.node)) return place;
  }
  return blockAround(selection.$from);
}

function blockAround($pos: ResolvedPos): Place | null {
  for (let depth = $pos.depth; depth > 0; depth--) {
    const parent = $pos.node(depth - 1);
    const node = $pos.node(depth);
    if (movesChildren(parent) && !isPart(node)) {
      return { node, pos: $pos.before(depth), parent, index: $pos.index(depth - 1) };
    }
  }
  return null;
}

/** Whether the children of a parent are moved as blocks. */
function movesChildren(parent: Node): boolean {
  return takesBlocks(parent) || kindOf(parent).movesChildren === true;
}

/** What belongs to its parent and cannot be moved on its own. */
export function isPart(node: Node): boolean {
  return kindOf(node).part !== undefined;
}

export function placeAt(doc: Node, pos: number): Place | null {
  const $pos = doc.resolve(pos);
  const node = $pos.nodeAfter;
  return node === null ? null : { node, pos, parent: $pos.parent, index: $pos.index() };
}

/** Nodes around the selection, the innermost first, and what is selected itself. */
export function* around(state: EditorState): Generator<{ node: Node; pos: number }> {
  const { selection } = state;
  if (selection instanceof NodeSelection) yield { node: selection.node, pos: selection.from };
  const { $from } = selection;
  for (let depth = $from.depth; depth > 0; depth--) yield { node: $from.node(depth), pos: $from.before(depth) };
}

export function find(state: EditorState, ...names: string[]): { node: Node; pos: number } | null {
  for (const one of around(state)) if (names.includes(one.node.type.name)) return one;
  return null;
}

/** Moves the current block before the one above or behind the one below. */
export function moveBlock(direction: -1 | 1): Command {
  return (state, dispatch) => {
    const place = currentBlock(state);
    if (place === null) return false;
    const other = place.index + direction;
    if (other < 0 || other >= place.parent.childCount) return false;
    const neighbour = place.parent.child(other);
    if (isPart(neighbour)) return false;
    if (dispatch === undefined) return true;
    const { pos, node } = place;
    const target = direction < 0 ? pos - neighbour.nodeSize : pos + neighbour.nodeSize;
    const { from, to } = state.selection;
    const tr = state.tr.delete(pos, pos + node.nodeSize).insert(target, node);
    tr.setSelection(sameSelection(tr, state.selection, from - pos + target, to - pos + target, node));
    dispatch(closeHistory(tr).scrollIntoView());
    return true;
  };
}

function sameSelection(tr: Transaction, old: Selection, from: number, to: number, node: Node): Selection {
  if (old instanceof NodeSelection) return NodeSelection.create(tr.doc, from);
  const last = from + node.nodeSize;
  return TextSelection.between(tr.doc.resolve(from), tr.doc.resolve(Math.min(to, last)));
}

export const duplicateBlock: Command = (state, dispatch) => {
  const place = currentBlock(state);
  if (place === null) return false;
  if (dispatch !== undefined) {
    const end = place.pos + place.node.nodeSize;
    const tr = state.tr.insert(end, place.node);
    const shift = end - place.pos;
    tr.setSelection(sameSelection(tr, state.selection, state.selection.from + shift, state.selection.to + shift, place.node));
    dispatch(closeHistory(tr).scrollIntoView());
  }
  return true;
};

export const deleteBlock: Command = (state, dispatch) => {
  const place = currentBlock(state);
  if (place === null) return false;
  if (dispatch !== undefined) {
    const tr = state.tr;
    const end = place.pos + place.node.nodeSize;
    const { lastChild } = place.parent;
    const alone = place.parent.childCount - (lastChild !== null && kindOf(lastChild).part === "last" ? 1 : 0) <= 1;
    if (!alone) tr.delete(place.pos, end);
    else if (place.parent.contentMatchAt(0).matchType(typeOf("paragraph")) !== null) {
      tr.replaceWith(place.pos, end, schema.node("paragraph"));
    } else {
      // A parent that would be left empty goes, too.
      const $pos = state.doc.resolve(place.pos);
      return deleteAround($pos, dispatch, state);
    }
    tr.setSelection(Selection.near(tr.doc.resolve(Math.min(place.pos, tr.doc.content.size)), 1));
    dispatch(closeHistory(tr).scrollIntoView());
  }
  return true;
};

function deleteAround($pos: ResolvedPos, dispatch: (tr: Transaction) => void, state: EditorState): boolean {
  const [from, to] = [$pos.before(), $pos.after()];
  const tr = state.tr;
  if ($pos.node($pos.depth - 1).childCount === 1) tr.replaceWith(from, to, schema.node("paragraph"));
  else tr.delete(from, to);
  tr.setSelection(Selection.near(tr.doc.resolve(Math.min(from, tr.doc.content.size)), 1));
  dispatch(closeHistory(tr).scrollIntoView());
  return true;
}

/** Kinds of text that there are, with the names of their nodes. */
export function textChoices(): [string, TextChoice][] {
  return kindsOf(schema).flatMap(([kind, { texts }]) => (texts ?? []).map((choice): [string, TextChoice] => [kind, choice]));
}

/** The kind of the current text: "paragraph", "heading-2", "code" and the like. */
export function textKind(state: EditorState): string | null {
  const { $from } = state.selection;
  const node = state.selection instanceof NodeSelection ? state.selection.node : $from.parent;
  if (!node.isTextblock) return null;
  const is = ([kind, { attrs }]: [string, TextChoice]) => kind === node.type.name && Object.entries(attrs ?? {}).every(([name, value]) => node.attrs[name] === value);
  return textChoices().find(is)?.[1].name ?? node.type.name;
}

/** Turns the selected texts into another kind; what is written about the old kind is not kept, but for the alignment. */
export function setText(name: string): Command {
  return (state, dispatch) => {
    const [kind, choice] = textChoices().find(([, one]) => one.name === name) ?? [name];
    const type = typeOf(kind);
    const from = state.selection.$from.parent;
    if (!from.isTextblock) return false;
    const align = alignOf(from);
    const style = attrsOf(from).style;
    const kept = style === "bare" ? null : style;
    let attrs: Record<string, unknown> = { style: kept, ...choice?.attrs };
    const fresh = type.create(attrs);
    if (from.type === type && choice?.attrs !== undefined) attrs = { ...from.attrs, ...choice.attrs };
    else if (align !== null && alignments(fresh).includes(align)) attrs = aligned(fresh, align, state.doc.attrs["classic"] === true);
    return setBlockType(type, attrs)(state, dispatch);
  };
}

/** The node that an alignment is set of. */
export function alignable(state: EditorState): { node: Node; pos: number } | null {
  for (const one of around(state)) if (alignments(one.node).length > 0) return one;
  return null;
}

export function setAlign(align: Align | null): Command {
  return (state, dispatch) => {
    const target = alignable(state);
    if (target === null || (align !== null && !alignments(target.node).includes(align))) return false;
    if (dispatch !== undefined) {
      const classic = state.doc.attrs["classic"] === true;
      const tr = state.tr;
      const seen = new Set<number>();
      const set = (node: Node, pos: number) => {
        if (node.type !== target.node.type || seen.has(pos)) return;
        seen.add(pos);
        tr.setNodeMarkup(pos, null, aligned(node, align, classic));
      };
      const { from, to } = state.selection;
      if (target.node.isTextblock && !(state.selection instanceof NodeSelection)) state.doc.nodesBetween(from, to, set);
      set(target.node, target.pos);
      dispatch(keepSelected(tr, state));
    }
    return true;
  };
}

/** Other attributes for the node at a place. */
export function setAttrs(pos: number, attrs: Record<string, unknown>): Command {
  return (state, dispatch) => {
    if (state.doc.nodeAt(pos) === null) return false;
    dispatch?.(keepSelected(state.tr.setNodeMarkup(pos, null, attrs), state));
    return true;
  };
}

/** A changed node is a new one: it stays selected. */
function keepSelected(tr: Transaction, state: EditorState): Transaction {
  if (state.selection instanceof NodeSelection) tr.setSelection(NodeSelection.create(tr.doc, state.selection.from));
  return tr;
}

/** Puts nodes behind the current block, or in its place where it is an empty paragraph. */
export function insertBlocks(nodes: Node[]): Command {
  return (state, dispatch) => {
    if (nodes.length === 0) return false;
    // A single delimiter would change how all the rest of such content is shown.
    if (state.doc.attrs["classic"] === true && nodes.some((node) => kindOf(node).plain !== true)) return false;
    const { $from } = state.selection;
    const depth = hostDepth($from, nodes, state.selection instanceof NodeSelection);
    if (depth < 0) return false;
    if (dispatch === undefined) return true;
    const tr = state.tr;
    const child = depth < $from.depth ? $from.node(depth + 1) : null;
    let at: number;
    if (child !== null && child.type.name === "paragraph" && child.content.size === 0) {
      at = $from.before(depth + 1);
      tr.replaceWith(at, $from.after(depth + 1), nodes);
    } else {
      at = depth < $from.depth ? $from.after(depth + 1) : state.selection.to;
      tr.insert(at, Fragment.fromArray(nodes));
    }
    select(tr, at, nodes);
    dispatch(tr.scrollIntoView());
    return true;
  };
}

/** How deep the innermost parent is that takes the nodes. */
export function hostDepth($from: ResolvedPos, nodes: Node[], selected: boolean): number {
  for (let depth = $from.depth; depth >= 0; depth--) {
    const parent = $from.node(depth);
    const index = $from.index(depth);
    const behind = depth < $from.depth || selected ? index + 1 : index;
    if (!parent.isTextblock && movesChildren(parent) && parent.canReplace(behind, behind, Fragment.fromArray(nodes))) return depth;
  }
  return -1;
}

/** The cursor in the first text of new nodes; the node itself where it has none. */
function select(tr: Transaction, at: number, nodes: Node[]): void {
  const first = nodes[0] as Node;
  if (first.isAtom || isCaptioned(first)) {
    tr.setSelection(NodeSelection.create(tr.doc, at));
  } else {
    tr.setSelection(Selection.near(tr.doc.resolve(at + 1), 1));
  }
}

/** Adds an empty paragraph before or behind the current block. */
export function insertParagraph(direction: -1 | 1): Command {
  return (state, dispatch) => {
    const place = topBlock(state);
    if (place === null) return false;
    const index = direction < 0 ? place.index : place.index + 1;
    if (!place.parent.canReplaceWith(index, index, typeOf("paragraph"))) return false;
    if (dispatch !== undefined) {
      const at = direction < 0 ? place.pos : place.pos + place.node.nodeSize;
      const tr = state.tr.insert(at, schema.node("paragraph"));
      dispatch(tr.setSelection(TextSelection.create(tr.doc, at + 1)).scrollIntoView());
    }
    return true;
  };
}

/** The innermost block around the selection whose parent may have a paragraph beside it. */
function topBlock(state: EditorState): Place | null {
  const { $from } = state.selection;
  if (state.selection instanceof NodeSelection && takesBlocks($from.parent)) return placeAt(state.doc, $from.pos);
  for (let depth = $from.depth; depth > 0; depth--) {
    const parent = $from.node(depth - 1);
    if (takesBlocks(parent)) return { node: $from.node(depth), pos: $from.before(depth), parent, index: $from.index(depth - 1) };
  }
  return null;
}

/** Enter in what ends with a line of its own: a caption, a source of a quote, a selected object. */
export const leaveBlock: Command = (state, dispatch) => {
  const { $from, empty } = state.selection;
  const selected = state.selection instanceof NodeSelection && state.selection.node.isBlock;
  const { part } = kindOf($from.parent);
  if (!selected && !(empty && (part !== undefined || isCaptioned($from.parent)))) return false;
  if (selected) return insertParagraph(1)(state, dispatch);
  const depth = part === "last" ? $from.depth - 1 : $from.depth;
  const at = $from.after(depth);
  const parent = $from.node(depth - 1);
  if (!takesBlocks(parent)) return insertParagraph(1)(state, dispatch);
  const next = state.doc.nodeAt(at);
  if (part === "first" && next?.type.name === "paragraph" && next.content.size === 0) {
    dispatch?.(state.tr.setSelection(TextSelection.create(state.doc, at + 1)).scrollIntoView());
    return true;
  }
  if (dispatch !== undefined) {
    const tr = state.tr.insert(at, schema.node("paragraph"));
    dispatch(tr.setSelection(TextSelection.create(tr.doc, at + 1)).scrollIntoView());
  }
  return true;
};

/** Enter in a listing or verse makes a new line; a second one at its end leaves it. */
export const newLine: Command = (state, dispatch) => {
  const { $from, $to, empty } = state.selection;
  if ($from.parent.type.spec.whitespace !== "pre" || !$from.sameParent($to)) return false;
  // The key behind the fence of a listing begins it: its first line is not empty.
  if ($from.parent.type.spec.code === true && $from.parent.content.size === 0) return true;
  const end = empty && $from.parentOffset === $from.parent.content.size;
  if (end && $from.parent.textBetween(Math.max(0, $from.parentOffset - 2), $from.parentOffset) === "\n\n" && takesBlocks($from.node(-1))) {
    if (dispatch !== undefined) {
      const tr = state.tr.delete($from.pos - 2, $from.pos);
      const at = tr.mapping.map($from.after());
      tr.insert(at, schema.node("paragraph"));
      dispatch(tr.setSelection(TextSelection.create(tr.doc, at + 1)).scrollIntoView());
    }
    return true;
  }
  dispatch?.(state.tr.insertText("\n").scrollIntoView());
  return true;
};

/** Enter in an empty last paragraph of a quote or group leaves it. */
export const leaveContainer: Command = (state, dispatch) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.parent.type.name !== "paragraph" || $from.parent.content.size > 0 || $from.depth < 2) return false;
  const parent = $from.node(-1);
  if (!takesBlocks(parent) || parent.childCount < 2 || !takesBlocks($from.node(-2))) return false;
  const next = $from.index(-1) + 1 < parent.childCount ? parent.child($from.index(-1) + 1) : null;
  if (next !== null && !isPart(next)) return false;
  if (dispatch !== undefined) {
    const tr = state.tr.delete($from.before(), $from.after());
    const at = tr.mapping.map($from.after(-1));
    tr.insert(at, schema.node("paragraph"));
    dispatch(tr.setSelection(TextSelection.create(tr.doc, at + 1)).scrollIntoView());
  }
  return true;
};

/** A break within a text. */
export const lineBreak: Command = (state, dispatch) => {
  const { $from } = state.selection;
  if (!$from.parent.isTextblock) return false;
  if (newLine(state, dispatch)) return true;
  dispatch?.(state.tr.replaceSelectionWith(schema.node("hard_break")).scrollIntoView());
  return true;
};
