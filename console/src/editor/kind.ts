/**
 * What a kind of node is: how it is read, written, shown, changed and inserted. Each block has one file in `blocks/` with its kinds.
 * Nothing else names a block: the rest of the editor asks the kind of a node.
 */
import type { JSX } from "preact";
import type { InputRule } from "prosemirror-inputrules";
import type { Attrs, Node, NodeSpec, NodeType, Schema } from "prosemirror-model";
import type { Command, EditorState } from "prosemirror-state";
import type { EditorView, NodeView } from "prosemirror-view";
import type { Block } from "./grammar";
import type { Token } from "./html";
import type { Reader } from "./read";
import type { Style } from "./schema";
import type { Session } from "./session";
import type { Place } from "./slices";
import type { EditorProps, FileItem, Picture, ReusablePieces } from "./types";
import type { Writer } from "./write";

export type Read = (reader: Reader, block: Block, place: Place) => Node | null;
/** Reads markup without delimiters: one element or comment, which begins with the token. */
export type ReadElement = (reader: Reader, text: string, token: Token, place: Place) => Node | null;

export interface Job {
  writer: Writer;
  node: Node;
  place: Place;
  style: Style;
  /** Markup of the inside. */
  inside: string;
}

export type Align = "left" | "center" | "right" | "wide" | "full";

/** Which colour of a block: of its text, of its background, or of what lies over the picture of a cover. */
export type Part = "text" | "background" | "overlay";

/** What a component gets that changes a block. */
export interface BlockProps {
  node: Node;
  pos: number;
  set(attrs: Attrs | null): void;
  session: Session;
  props: EditorProps;
}

export interface DialogProps {
  session: Session;
  props: EditorProps;
  onClose(): void;
}

/** A row of the list of insertions. */
export interface Row {
  /** That of the kind where it has no other. */
  name?: string;
  label(): string;
  icon: string;
  /** Its place in the list: 10, 20 … */
  order: number;
  /** Names that other editors have for it, in English and German: people type them in either. */
  words: string;
  /** Content without delimiters may have it. */
  classic?: boolean;
  allowed?(props: EditorProps): boolean;
  /** A new node, with the attributes and classes that WordPress's own editor gives it. */
  make?(): Node;
  /** What is done instead of inserting what `make` gives. */
  run?(session: Session, props: EditorProps): void;
}

/** A kind of text in the toolbar's menu. */
export interface TextChoice {
  name: string;
  label(): string;
  attrs?: Attrs;
}

/** What can be done with a block, in the menu of its actions. */
export interface Action {
  name: string;
  icon: string;
  label(): string;
  run: Command;
  /** Shown where it cannot be done, too. */
  always?: boolean;
}

/** A button of the toolbar. */
export interface Tool extends Action {
  isOn(state: EditorState): boolean;
}

export interface ViewContext {
  reusable(): ReusablePieces | undefined;
  /** Opens the source of the node at a place. */
  edit(pos: number): void;
}

export interface Kind {
  spec: NodeSpec;
  /** What people call it. */
  label?(node: Node): string;
  /** Its place among kinds, in the toolbar, too; 100 where it says nothing. */
  order?: number;

  /** Readers by names of blocks: "core/quote", or "name/*" for all that begin so. They give null for markup of another shape. */
  read?: Record<string, Read>;
  /** Readers of markup without delimiters by names of elements, "!--more" for a comment. */
  elements?: Record<string, ReadElement>;
  write?(job: Job): string;
  /** The classes of its opening tag where nothing else is written. */
  usual?: string | ((node: Node) => string);
  /** It can be written without delimiters. */
  plain?: boolean;
  /** Where its children are, when their style does not decide it. */
  placeInside?(place: Place): Place;
  /** Markup between two children that were not neighbours; null for what is usual. */
  between?(before: Node, child: Node, place: Place): string | null;
  /** Whether the ends of the slice that it was read from still fit. */
  keepsEnds?(node: Node, read: Node): boolean;
  /** Whether it has something in it that its old form cannot have; `fits` says it of a child. */
  outgrown?(node: Node, fits: (child: Node) => boolean): boolean;
  /** What it becomes where classic content turns into blocks. */
  converted?(node: Node): Node;
  /** Of its old tag only the alignment is kept then. */
  dropsTag?: boolean;

  view?(node: Node, view: EditorView, getPos: () => number | undefined, context: ViewContext): NodeView;
  /** A hint in it while it is empty. */
  hint?(): string;
  /** The level of a heading, for the outline. */
  outline?(node: Node): number;

  /** A line of its parent that cannot be moved alone: at its beginning or its end. */
  part?: "first" | "last";
  /** Its first paragraph is its own text. */
  ownText?: boolean;
  /** Its children are moved as blocks; where blocks of any kind may be in it, they always are. */
  movesChildren?: boolean;
  /** Clicking its body selects it as one. If it has text, that is its caption. */
  figure?: boolean;

  aligns?: readonly Align[];
  /** The attribute of the delimiter that says how text is aligned. */
  textAlign?: "align" | "textAlign";
  aligned?(node: Node, tag: string, align: Align | null): Attrs;
  colours?(node: Node): readonly Part[];
  /** Whether it is written as editors of today write it. */
  isCurrent?(node: Node): boolean;
  /** Its attributes with another inside of the tag that has its colours. */
  withTag?(node: Node, change: (inside: string) => string): Attrs;
  /** In the dialog of settings. */
  Settings?(props: BlockProps): JSX.Element;
  /** In the bar below the toolbar. */
  Details?(props: BlockProps): JSX.Element;
  hasDetails?(node: Node): boolean;
  /** Opens what its source is edited with, where that is not the source of the whole block. */
  edit?(session: Session, pos: number): void;

  insert?: readonly Row[];
  texts?: readonly TextChoice[];
  tools?: readonly Tool[];
  actions?: readonly Action[];
  /** A menu of the toolbar while the cursor is in it: what is checked there, and the menu. */
  menu?: { checks(state: EditorState): Record<string, boolean> | null; Menu(props: { session: Session; checks: Record<string, boolean> }): JSX.Element };
  keys?: Record<string, Command>;
  rules?(): InputRule[];
  /** The kind and attributes of the second part when Enter splits it. */
  split?(node: Node, atEnd: boolean): { type: NodeType; attrs: Attrs } | null;

  /** What a picture, another file, a pasted address or a pasted paragraph becomes; null where it is another kind. */
  ofPicture?(picture: Picture): Node | null;
  ofFile?(file: FileItem): Node | null;
  ofAddress?(address: string): Node | null;
  ofParagraph?(paragraph: Node): Node | null;
}

export type Kinds = Record<string, Kind>;

const NONE: Kind = { spec: {} };

export function kindOfType(type: NodeType): Kind {
  return (type.spec["kind"] as Kind | undefined) ?? NONE;
}

export function kindOf(node: Node): Kind {
  return kindOfType(node.type);
}

/** All kinds in order, with their names. */
export function kindsOf(schema: Schema): [string, Kind][] {
  return Object.values(schema.nodes).map((type) => [type.name, kindOfType(type)]);
}

/** What the first kind makes that makes something. */
export function firstOf<T>(schema: Schema, make: (kind: Kind) => T | null | undefined): T | null {
  for (const [, kind] of kindsOf(schema)) {
    const made = make(kind);
    if (made !== null && made !== undefined) return made;
  }
  return null;
}

/** What a block is called for people. */
export function nameOf(node: Node): string {
  return kindOf(node).label?.(node) ?? node.type.name;
}

/** Whether blocks of any kind may be in it. */
export function takesBlocks(node: Node): boolean {
  return /\bblock\b/.test(node.type.spec.content ?? "");
}

/** Whether its text is a caption. */
export function isCaptioned(node: Node): boolean {
  return node.isTextblock && kindOf(node).figure === true;
}
