/**
 * What can be inserted, for the menu and for what follows "/".
 */
import type { Node } from "prosemirror-model";
import { schema } from "./blocks";
import { kindsOf, type Row } from "./kind";
import type { Session } from "./session";
import type { EditorProps } from "./types";

export interface Insertion {
  name: string;
  label: string;
  icon: string;
  /** What people call it elsewhere, in each language. */
  words: readonly string[];
  run(): void;
}

/** The rows of all kinds in order, with the names of their kinds. */
const ROWS: [string, Row][] = kindsOf(schema).flatMap(([kind, { insert }]) => (insert ?? []).map((row): [string, Row] => [kind, row]));
ROWS.sort(([, a], [, b]) => a.order - b.order);

/** A new node, by the name of its row or its kind. */
export function makeNew(name: string): Node {
  const row = ROWS.find(([kind, one]) => (one.name ?? kind) === name)?.[1];
  return row?.make?.() ?? schema.node(name);
}

/** What can be inserted into the content as it is, in order. */
export function insertions(session: Session, props: EditorProps): Insertion[] {
  const classic = session.view.state.doc.attrs["classic"] === true;
  return ROWS.filter(([, row]) => (!classic || row.classic === true) && (row.allowed?.(props) ?? true)).map(([kind, row]) => {
    const name = row.name ?? kind;
    const insert = () => session.insert(makeNew(name));
    return { name, label: row.label(), icon: row.icon, words: row.words.split(" "), run: () => (row.run === undefined ? insert() : row.run(session, props)) };
  });
}
