/**
 * "/" in an empty paragraph offers what can be inserted.
 */
import { Plugin } from "prosemirror-state";
import type { Insertion } from "./insert";
import type { Session } from "./session";

export interface Slash {
  /** Where the "/" is; null when the list was opened by a key. */
  from: number | null;
  query: string;
  /** The place in the text that the list stands at. */
  at: number;
  /** The entry that Enter takes. */
  active: number;
}

/** Entries that fit what was typed: first those that begin with it, then those that are called so elsewhere. */
export function matching(all: Insertion[], query: string): Insertion[] {
  const wanted = query.trim().toLocaleLowerCase();
  if (wanted === "") return all;
  const label = (one: Insertion) => one.label.toLocaleLowerCase();
  const begins = all.filter((one) => label(one).startsWith(wanted) || one.name.startsWith(wanted));
  const called = all.filter((one) => !begins.includes(one) && one.words.some((word) => word.startsWith(wanted)));
  const rest = all.filter((one) => !begins.includes(one) && !called.includes(one) && label(one).includes(wanted));
  return [...begins, ...called, ...rest];
}

/** Follows what is typed behind "/". The keys of the list are taken by `SlashList`. */
export function slashPlugin(session: Session): Plugin {
  return new Plugin({
    view: () => ({
      update(view, before) {
        const { state } = view;
        if (state.doc === before.doc && state.selection.eq(before.selection)) return;
        const { $from, empty } = state.selection;
        const typed = state.doc !== before.doc;
        const known = session.slash.value;
        const text = $from.parent.type.name === "paragraph" ? $from.parent.textBetween(0, $from.parentOffset, undefined, "\ufffc") : "";
        const match = empty && view.editable ? /^\/([\p{L}\p{N} ]{0,30})$/u.exec(text) : null;
        if (match === null || (known === null && (!typed || text !== "/"))) {
          if (known !== null) session.slash.value = null;
          return;
        }
        session.slash.value = { from: $from.start(), query: match[1] as string, at: $from.pos, active: 0 };
      },
    }),
    props: {
      handleKeyDown: (_, event) => session.slashKey?.(event) ?? false,
    },
  });
}
