/**
 * Keys, and what typing certain signs does.
 */
import { chainCommands, createParagraphNear, exitCode, liftEmptyBlock, splitBlockAs, toggleMark } from "prosemirror-commands";
import { redo, undo } from "prosemirror-history";
import { InputRule, inputRules, undoInputRule } from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import type { MarkType } from "prosemirror-model";
import { type Command, NodeSelection, type Plugin } from "prosemirror-state";
import { deleteBlock, duplicateBlock, insertParagraph, leaveBlock, leaveContainer, lineBreak, moveBlock, newLine, setText } from "./commands";
import { fullAddress, hostAddress } from "./addresses";
import { schema } from "./blocks";
import { kindOf, kindsOf } from "./kind";
import { safeAddress } from "./looks";
import { attrsOf } from "./schema";

const marks = schema.marks as Record<string, MarkType>;

/** The second part of a split text is an ordinary one: no `id` or look twice. */
const split = splitBlockAs((node, atEnd) => {
  const own = kindOf(node).split?.(node, atEnd) ?? null;
  if (own !== null) return own;
  const { json, tag, style } = attrsOf(node);
  const plain = tag === null || !/\sid\s*=/i.test(tag);
  return { type: node.type, attrs: plain ? node.attrs : { ...node.attrs, slice: null, style, json, tag: tag.replace(/\sid\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/i, "") } };
});

/** What blocks do with a key, each where it applies. */
function ofBlocks(key: string): Command[] {
  return kindsOf(schema).flatMap(([, { keys }]) => keys?.[key] ?? []);
}

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
    Enter: chainCommands(newLine, leaveBlock, ...ofBlocks("Enter"), leaveContainer, createParagraphNear, liftEmptyBlock, split),
    "Mod-Enter": chainCommands(exitCode, insertParagraph(1)),
    "Mod-Shift-Enter": insertParagraph(-1),
    "Shift-Enter": lineBreak,
    "Mod-Alt-0": setText("paragraph"),
    "Alt-Shift-ArrowUp": saying(moveBlock(-1), "moved_up", actions.say),
    "Alt-Shift-ArrowDown": saying(moveBlock(1), "moved_down", actions.say),
    "Mod-Shift-d": saying(duplicateBlock, "duplicated", actions.say),
    "Alt-Shift-Backspace": saying(deleteBlock, "deleted", actions.say),
    "Alt-Shift-Delete": saying(deleteBlock, "deleted", actions.say),
    Escape: selectParent,
  };
  for (const [, kind] of kindsOf(schema)) {
    for (const key of Object.keys(kind.keys ?? {})) bound[key] ??= chainCommands(...ofBlocks(key));
  }
  return [keymap(bound)];
}

/** Escape selects the block around the cursor as one object: the arrow keys then walk from block to block, Tab leaves the editor. */
const selectParent: Command = (state, dispatch) => {
  const { selection } = state;
  if (selection instanceof NodeSelection && selection.$from.depth === 0) return false;
  for (let depth = selection instanceof NodeSelection ? selection.$from.depth : selection.$from.depth; depth > 0; depth--) {
    const at = selection.$from.before(depth);
    const node = state.doc.nodeAt(at);
    if (node === null || !NodeSelection.isSelectable(node)) continue;
    dispatch?.(state.tr.setSelection(NodeSelection.create(state.doc, at)));
    return true;
  }
  return false;
};

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
  return inputRules({
    rules: [
      ...kindsOf(schema).flatMap(([, { rules }]) => rules?.() ?? []),
      marked(/(?<![\w*])\*\*([^*\s](?:[^*]*[^*\s])?)\*\*$/, "strong"),
      marked(/(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*$/, "em"),
      marked(/(?<![\w~])~~([^~\s](?:[^~]*[^~\s])?)~~$/, "strike"),
      linked,
      marked(/(?<![\w`])`([^`]+)`$/, "code_text"),
    ],
  });
}
