/**
 * Keys, and what typing certain signs does.
 */
import { chainCommands, createParagraphNear, exitCode, liftEmptyBlock, splitBlockAs, toggleMark } from "prosemirror-commands";
import { redo, undo } from "prosemirror-history";
import { InputRule, inputRules, textblockTypeInputRule, undoInputRule, wrappingInputRule } from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import type { MarkType, NodeType } from "prosemirror-model";
import { splitListItem } from "prosemirror-schema-list";
import { type Command, NodeSelection, type Plugin, TextSelection } from "prosemirror-state";
import { goToNextCell } from "prosemirror-tables";
import {
  deleteBlock,
  duplicateBlock,
  find,
  indent,
  insertParagraph,
  leaveBlock,
  leaveContainer,
  moveBlock,
  newLine,
  outdent,
  setText,
  toggleList,
} from "./commands";
import { fullAddress, hostAddress } from "./addresses";
import { safeAddress } from "./looks";
import { makeSimple } from "./make";
import { attrsOf, schema } from "./schema";

const types = schema.nodes as Record<string, NodeType>;
const marks = schema.marks as Record<string, MarkType>;

/** A break within a text. */
const lineBreak: Command = (state, dispatch) => {
  const { $from } = state.selection;
  if (!$from.parent.isTextblock) return false;
  if (newLine(state, dispatch)) return true;
  dispatch?.(state.tr.replaceSelectionWith(schema.node("hard_break")).scrollIntoView());
  return true;
};

/** The second part of a split text is an ordinary one: no `id` or look twice; a heading is followed by a paragraph. */
const split = splitBlockAs((node, atEnd) => {
  const paragraph = types["paragraph"] as NodeType;
  if (node.type.name === "heading" && atEnd) return { type: paragraph, attrs: { style: attrsOf(node).style === "html" ? "html" : null } };
  if (node.type.name === "button") return { type: node.type, attrs: {} };
  const { json, tag, style } = attrsOf(node);
  const plain = tag === null || !/\sid\s*=/i.test(tag);
  return { type: node.type, attrs: plain ? node.attrs : { ...node.attrs, slice: null, style, json, tag: tag.replace(/\sid\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/i, "") } };
});

/** A cell takes no second paragraph: Enter makes a break. */
const cellBreak: Command = (state, dispatch) => (find(state, "table_cell", "table_header") === null ? false : lineBreak(state, dispatch));

/** What a person does with blocks is said, too. */
export type Say = (what: "moved_up" | "moved_down" | "cannot_move" | "duplicated" | "deleted") => void;

function saying(command: Command, done: Parameters<Say>[0], say: Say): Command {
  return (state, dispatch, view) => {
    const did = command(state, dispatch, view);
    if (dispatch !== undefined) say(did ? done : "cannot_move");
    return true;
  };
}

export interface Actions {
  say: Say;
  link(): boolean;
  insert(): boolean;
  help(): boolean;
}

export function keys(actions: Actions): Plugin[] {
  const run = (what: () => boolean): Command => (_, dispatch) => dispatch === undefined || what();
  const bound: Record<string, Command> = {
    "Mod-z": chainCommands(undoInputRule, undo),
    "Mod-y": redo,
    "Mod-Shift-z": redo,
    "Mod-b": toggleMark(marks["strong"] as MarkType),
    "Mod-i": toggleMark(marks["em"] as MarkType),
    "Mod-u": toggleMark(marks["underline"] as MarkType),
    "Mod-e": toggleMark(marks["code_text"] as MarkType),
    "Mod-Shift-x": toggleMark(marks["strike"] as MarkType),
    "Mod-k": run(actions.link),
    "Mod-/": run(actions.insert),
    "Shift-Alt-h": run(actions.help),
    Backspace: undoInputRule,
    Enter: chainCommands(newLine, leaveBlock, cellBreak, splitListItem(types["list_item"] as NodeType), leaveContainer, createParagraphNear, liftEmptyBlock, split),
    "Mod-Enter": chainCommands(exitCode, insertParagraph(1)),
    "Mod-Shift-Enter": insertParagraph(-1),
    "Shift-Enter": lineBreak,
    Tab: chainCommands(goToNextCell(1), indent),
    "Shift-Tab": chainCommands(goToNextCell(-1), outdent),
    "Mod-]": indent,
    "Mod-[": outdent,
    "Mod-Shift-7": toggleList(true),
    "Mod-Shift-8": toggleList(false),
    "Mod-Alt-0": setText("paragraph"),
    "Alt-Shift-ArrowUp": saying(moveBlock(-1), "moved_up", actions.say),
    "Alt-Shift-ArrowDown": saying(moveBlock(1), "moved_down", actions.say),
    "Mod-Shift-d": saying(duplicateBlock, "duplicated", actions.say),
    "Alt-Shift-Backspace": saying(deleteBlock, "deleted", actions.say),
    "Alt-Shift-Delete": saying(deleteBlock, "deleted", actions.say),
    Escape: selectParent,
  };
  for (let level = 1; level <= 6; level++) bound[`Mod-Alt-${level}`] = setText(`heading-${level}`);
  return [keymap(bound)];
}

/** Escape selects the block around the cursor as one object: the arrow keys then walk from block to block, Tab leaves the editor. */
const selectParent: Command = (state, dispatch) => {
  const { selection } = state;
  if (selection instanceof NodeSelection && selection.$from.depth === 0) return false;
  for (let depth = selection instanceof NodeSelection ? selection.$from.depth : selection.$from.depth; depth > 0; depth--) {
    const at = selection.$from.before(depth);
    const node = state.doc.nodeAt(at);
    if (node === null || !NodeSelection.isSelectable(node) || ["cite", "caption"].includes(node.type.name)) continue;
    dispatch?.(state.tr.setSelection(NodeSelection.create(state.doc, at)));
    return true;
  }
  return false;
};

/** `---` in an empty paragraph: a line. */
const line = new InputRule(/^(?:---|—-)$/, (state) => {
  const { $from } = state.selection;
  const index = $from.index(-1);
  if ($from.parent.type.name !== "paragraph" || !$from.node(-1).canReplaceWith(index, index + 1, types["separator"] as NodeType)) return null;
  const behind = schema.node("paragraph");
  const tr = state.tr.replaceWith($from.before(), $from.after(), [makeSimple("separator"), behind]);
  return tr.setSelection(TextSelection.near(tr.doc.resolve($from.before() + 2)));
});

/** A mark that signs on both sides of a text give. The last sign is not in the document yet. */
function marked(pattern: RegExp, name: string): InputRule {
  const type = marks[name] as MarkType;
  return new InputRule(pattern, (state, match, start, end) => {
    const text = match[1] as string;
    const from = start + match[0].indexOf(text);
    if (state.doc.rangeHasMark(start, end, marks["code_text"] as MarkType)) return null;
    const tr = state.tr;
    if (from + text.length < end) tr.delete(from + text.length, end);
    tr.delete(start, from);
    tr.addMark(start, start + text.length, type.create());
    return tr.removeStoredMark(type);
  });
}

/** `[text](address)`: a link. */
const linked = new InputRule(/(?<!!)\[([^[\]]+)\]\((\S+)\)$/, (state, match, start, end) => {
  const [, text = "", address = ""] = match;
  const href = fullAddress(address) ?? hostAddress(address);
  const safe = href === null ? null : safeAddress(href);
  if (safe === null || state.doc.rangeHasMark(start, end, marks["code_text"] as MarkType)) return null;
  const type = marks["link"] as MarkType;
  const tr = state.tr.delete(start + 1 + text.length, end).delete(start, start + 1);
  return tr.addMark(start, start + text.length, type.create({ href: safe })).removeStoredMark(type);
});

export function typingRules(): Plugin {
  const attrs = { slice: null, json: null, tag: null };
  return inputRules({
    rules: [
      textblockTypeInputRule(/^(#{1,6})\s$/, types["heading"] as NodeType, (match) => ({ ...attrs, level: (match[1] as string).length })),
      wrappingInputRule(/^\s*[-*+]\s$/, types["list"] as NodeType, { ordered: false }),
      wrappingInputRule(/^\s*1[.)]\s$/, types["list"] as NodeType, { ordered: true }, (_, node) => node.attrs["ordered"] === true),
      wrappingInputRule(/^\s*>\s$/, types["quote"] as NodeType),
      textblockTypeInputRule(/^```$/, types["code"] as NodeType, attrs),
      line,
      marked(/(?<![\w*])\*\*([^*\s](?:[^*]*[^*\s])?)\*\*$/, "strong"),
      marked(/(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*$/, "em"),
      marked(/(?<![\w~])~~([^~\s](?:[^~]*[^~\s])?)~~$/, "strike"),
      linked,
      marked(/(?<![\w`])`([^`]+)`$/, "code_text"),
    ],
  });
}
