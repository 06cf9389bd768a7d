/**
 * One mounted editor: its ProseMirror view, its content, and what its toolbar shows.
 */
import { signal } from "@preact/signals";
import { baseKeymap, toggleMark } from "prosemirror-commands";
import { dropCursor } from "prosemirror-dropcursor";
import { gapCursor } from "prosemirror-gapcursor";
import { closeHistory, history, redoDepth, undoDepth } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { Fragment, type MarkType, type Node } from "prosemirror-model";
import { type Command, EditorState, NodeSelection, Plugin, Selection } from "prosemirror-state";
import { tableEditing } from "prosemirror-tables";
import { EditorView, type NodeViewConstructor } from "prosemirror-view";
import type { JSX } from "preact";
import { t } from "../i18n";
import { announce } from "../ui";
import { schema } from "./blocks";
import { alignOf, alignments } from "./change";
import { copy, paste } from "./clipboard";
import { dropped } from "./drop";
import { alignable, around, currentBlock, insertBlocks, setText, textKind } from "./commands";
import { hints } from "./hints";
import { type Say, keys, typingRules } from "./keys";
import { type Align, type DialogProps, firstOf, kindOf, kindsOf } from "./kind";
import { showColours, showPicturesOf } from "./looks";
import { type Overview, overviewOf } from "./overview";
import { Content } from "./read";
import { settable } from "./settings";
import { slashPlugin, type Slash } from "./slash";
import type { EditorProps, Files } from "./types";
import { takes, upload, uploadsPlugin } from "./uploads";

const marks = schema.marks as Record<string, MarkType>;
const SHOWN_MARKS = ["strong", "em", "underline", "code_text", "strike", "link"] as const;

/** What the toolbar shows. Plain values, so that it is drawn again only when one of them differs. */
export interface Status {
  kind: string | null;
  marks: string[];
  align: Align | null;
  aligns: readonly Align[];
  undo: boolean;
  redo: boolean;
  /** Buttons of blocks that are pressed. */
  tools: string[];
  /** Menus of blocks around the cursor, by their kinds, and what is checked in them. */
  menus: Record<string, Record<string, boolean>>;
  /** The kind of block whose details can be changed, and where it is. */
  panel: { kind: string; pos: number } | null;
  block: string | null;
  /** A block around the cursor has settings. */
  settings: boolean;
  classic: boolean;
}

/** A dialog that is open, with what it is about. */
export type Asked =
  | { kind: "link" }
  | { kind: "block"; Dialog(props: DialogProps): JSX.Element }
  | { kind: "source"; pos: number }
  | { kind: "settings" }
  | { kind: "help" };

/** What of the window the bars cover, and a line more. */
const UNDER_BARS = { top: 170, bottom: 40, left: 0, right: 0 };

/** After so many milliseconds without a key, the content is written. */
const QUIET = 400;

export class Session {
  readonly view: EditorView;
  content: Content;
  readonly status = signal<Status | null>(null);
  readonly asked = signal<Asked | null>(null);
  readonly slash = signal<Slash | null>(null);
  /** Follows the text a moment after the last key. */
  readonly overview = signal<Overview>({ words: 0, headings: [] });
  /** Takes the keys of the list of insertions while it is open. */
  slashKey: ((event: KeyboardEvent) => boolean) | null = null;
  /** The node whose details are shown: it changes with each of them. */
  readonly panel = signal<Node | null>(null);
  private readonly props: () => EditorProps;
  private last: string;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0;

  constructor(place: HTMLElement, props: () => EditorProps) {
    this.props = props;
    this.last = props().value;
    showPicturesOf(props().site ?? "");
    showColours(props().palette ?? []);
    this.content = Content.read(this.last);
    this.view = new EditorView(place, {
      state: EditorState.create({ doc: this.content.doc, plugins: this.plugins() }),
      nodeViews: this.nodeViews(),
      attributes: () => this.attributes(),
      // Bars at the top of the window lie over the text.
      scrollThreshold: UNDER_BARS,
      scrollMargin: UNDER_BARS,
      editable: () => props().readOnly !== true,
      dispatchTransaction: (tr) =>
        measured("editor.change", () => {
          this.view.updateState(this.view.state.apply(tr));
          if (tr.docChanged && tr.getMeta("known") !== true) this.changed();
          this.show();
        }),
      handleDOMEvents: {
        copy: (view, event) => copy(view, event, this.content),
        cut: (view, event) => {
          if (!copy(view, event, this.content)) return false;
          if (view.editable) view.dispatch(view.state.tr.deleteSelection().scrollIntoView());
          return true;
        },
        // Before ProseMirror parses it: nothing of a clipboard gets into its parser.
        paste: (view, event) => {
          if (!view.editable || !this.pasted(view, event)) return false;
          event.preventDefault();
          return true;
        },
        blur: () => {
          this.flush();
          return false;
        },
      },
      handleClickOn: (view, _, node, pos, event) => {
        const card = kindOf(node).figure === true && (event.target as Element).closest(".editor-figure") !== null;
        if (card) view.dispatch(view.state.tr.setSelection(NodeSelection.create(view.state.doc, pos)));
        return card;
      },
      handleDrop: (view, event, _, moved) => dropped(view, event, moved, props()),
    });
    this.status.value = this.current();
    this.panel.value = this.panelNode();
    this.overview.value = overviewOf(this.content.doc);
  }

  /** Moves the cursor to a place of the text. */
  go(pos: number): void {
    const { state } = this.view;
    const place = state.doc.resolve(Math.min(pos + 1, state.doc.content.size));
    this.view.dispatch(state.tr.setSelection(Selection.near(place)).scrollIntoView());
    this.focus();
  }

  private plugins(): Plugin[] {
    return [
      slashPlugin(this),
      ...keys({
        say: (what) => this.say(what),
        link: () => {
          // A selection that was made by the key before may not be known yet.
          (this.view as unknown as { domObserver?: { flush(): void } }).domObserver?.flush();
          return this.ask({ kind: "link" });
        },
        insert: () => {
          this.slash.value = { from: null, query: "", at: this.view.state.selection.from, active: 0 };
          return true;
        },
        help: () => this.ask({ kind: "help" }),
      }),
      typingRules(),
      keymap(baseKeymap),
      history(),
      dropCursor({ class: "editor-drop", color: false, width: 2 }),
      gapCursor(),
      tableEditing(),
      uploadsPlugin(),
      new Plugin({ props: { decorations: (state) => hints(state, this.props().placeholder) } }),
    ];
  }

  private nodeViews(): Record<string, NodeViewConstructor> {
    const context = { reusable: () => this.props().reusable, edit: (pos: number) => this.editSource(pos) };
    return Object.fromEntries(
      kindsOf(schema).flatMap(([name, { view }]) => (view === undefined ? [] : [[name, ((node, editor, getPos) => view(node, editor, getPos, context)) as NodeViewConstructor]])),
    );
  }

  private attributes(): Record<string, string> {
    const { label, describedBy, invalid, readOnly } = this.props();
    return {
      class: "editor-text",
      role: "textbox",
      "aria-multiline": "true",
      "aria-label": label,
      spellcheck: "true",
      ...(describedBy === undefined ? {} : { "aria-describedby": describedBy }),
      ...(invalid === true ? { "aria-invalid": "true" } : {}),
      ...(readOnly === true ? { "aria-readonly": "true", tabindex: "0" } : {}),
    };
  }

  private pasted(view: EditorView, event: ClipboardEvent): boolean {
    const files = Array.from(event.clipboardData?.files ?? []);
    const html = event.clipboardData?.getData("text/html") ?? "";
    const usable = files.filter((file) => takes(file, this.props()));
    if (usable.length > 0 && !/<(?:p|table|li|h[1-6])[\s>]/i.test(html)) {
      upload(view, files, view.state.selection.from, this.props());
      return true;
    }
    const shift = (view as unknown as { input?: { shiftKey?: boolean } }).input?.shiftKey === true;
    return paste(view, event, shift);
  }

  /** Opens a dialog. */
  ask(asked: Asked): boolean {
    if (!this.view.editable && asked.kind !== "help") return false;
    this.asked.value = asked;
    return true;
  }

  /** Opens the source of the block that the cursor is in. */
  editCurrent(): void {
    const place = currentBlock(this.view.state);
    if (place !== null) this.editSource(place.pos);
  }

  /** Opens the source of the node at a place. */
  editSource(pos: number): void {
    const node = this.view.state.doc.nodeAt(pos);
    const edit = node === null ? undefined : kindOf(node).edit;
    if (edit === undefined) this.ask({ kind: "source", pos });
    else edit(this, pos);
  }

  /** The source of the block at a place. */
  source(pos: number): string {
    const { doc } = this.view.state;
    const node = doc.nodeAt(pos);
    return node === null ? "" : this.content.writeBlock(doc, node, this.content.placeOf(doc, pos));
  }

  /** Puts other source in the place of a block; false when it would not stand there by itself. */
  putSource(pos: number, text: string): boolean {
    const { state } = this.view;
    const node = state.doc.nodeAt(pos);
    if (node === null) return false;
    const $pos = state.doc.resolve(pos);
    const nodes = this.content.nodes(text, this.content.placeOf(state.doc, pos), state.doc.attrs["classic"] === true);
    const fragment = Fragment.fromArray(nodes);
    if (nodes.some((one) => one.type.name === "verbatim" && one.attrs["closers"] !== "")) return false;
    if (!$pos.parent.canReplace($pos.index(), $pos.index() + 1, fragment)) return false;
    this.view.dispatch(closeHistory(state.tr.replaceWith(pos, pos + node.nodeSize, fragment)).scrollIntoView());
    return true;
  }

  /** Whether a node's text, read again, is that one node: source could end the block that it stands in. */
  holds(node: Node): boolean {
    const text = this.content.writeBlock(this.view.state.doc, node);
    const again = Content.read(text).doc;
    return again.childCount === 1 && again.firstChild?.type === node.type;
  }

  /** Runs a command and gives the focus back to the text. */
  run(command: Command): boolean {
    const did = command(this.view.state, (tr) => this.view.dispatch(tr.docChanged ? closeHistory(tr) : tr), this.view);
    this.focus();
    return did;
  }

  /** Puts a new block in. */
  insert(node: Node): boolean {
    return this.run(insertBlocks([node]));
  }

  /** Puts in what somebody has chosen, as soon as they have; nothing where `make` gives null. */
  insertChosen<T>(chosen: Promise<T[]> | undefined, make: (chosen: T[]) => Node | null): void {
    void (chosen ?? Promise.resolve([])).then((all) => {
      if (this.view.isDestroyed) return;
      const node = make(all);
      if (node === null) this.view.focus();
      else this.insert(node);
    });
  }

  /** Puts in a file that somebody chooses; `types`: first parts of MIME types, none for any. */
  insertFile(files: Files | undefined, types: readonly string[]): void {
    const chosen = files?.pick?.({ types }).then((file) => (file === null ? [] : [file]));
    this.insertChosen(chosen, ([file]) => (file === undefined ? null : firstOf(schema, ({ ofFile }) => ofFile?.(file))));
  }

  setText(name: string): void {
    this.run(setText(name));
  }

  /** The focus to the text; a menu gives it back to its button a moment later, from where it is taken once more.
   * A key or a pointer that is pressed meanwhile moves the focus itself, so it is left there. */
  focus(): void {
    this.view.focus();
    const until = new AbortController();
    const { signal } = until;
    for (const kind of ["keydown", "pointerdown"]) document.addEventListener(kind, () => until.abort(), { capture: true, signal });
    let frames = 3;
    const again = () => {
      if (signal.aborted || this.view.isDestroyed || this.asked.value !== null) return until.abort();
      if (document.activeElement?.closest(".editor-toolbar") !== null && document.activeElement !== document.body) this.view.focus();
      if (--frames > 0) requestAnimationFrame(again);
      else until.abort();
    };
    requestAnimationFrame(again);
  }

  can(command: Command): boolean {
    return command(this.view.state);
  }

  toggle(mark: string): void {
    this.run(toggleMark(marks[mark] as MarkType));
  }

  /** Says what happened to a block. */
  say(what: Parameters<Say>[0]): void {
    const place = currentBlock(this.view.state);
    const values = { place: (place?.index ?? 0) + 1, count: place?.parent.childCount ?? 0 };
    announce(t(`editor.${what}`, values));
  }

  private changed(): void {
    if (this.timer === undefined) this.props().onTyping?.();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), QUIET);
  }

  /** Writes the content, and hands it on where it differs. */
  flush(): string {
    clearTimeout(this.timer);
    this.timer = undefined;
    const text = this.content.write(this.view.state.doc);
    if (text !== this.last) {
      this.last = text;
      this.props().onChange(text);
    }
    const overview = overviewOf(this.view.state.doc);
    if (JSON.stringify(overview) !== JSON.stringify(this.overview.value)) this.overview.value = overview;
    return text;
  }

  /** The content as it is now, without telling anybody. */
  text(): string {
    return this.content.write(this.view.state.doc);
  }

  /** Another content, from the form or from the source view. Undo brings the old one back. */
  replace(text: string, known: boolean): void {
    if (known) this.last = text;
    if (text === this.text()) return;
    const doc = this.content.another(text);
    const { state } = this.view;
    const tr = state.tr.replaceWith(0, state.doc.content.size, doc.content);
    for (const name of ["classic", "lead", "trail"]) {
      if (tr.doc.attrs[name] !== doc.attrs[name]) tr.setDocAttribute(name, doc.attrs[name]);
    }
    clearTimeout(this.timer);
    this.timer = undefined;
    this.view.dispatch(closeHistory(tr).setMeta("known", known));
  }

  /** Draws the toolbar at the next frame: typing does not wait for it. */
  private show(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.view.isDestroyed) return;
      measured("editor.bars", () => {
        const status = this.current();
        if (JSON.stringify(status) !== JSON.stringify(this.status.value)) this.status.value = status;
        const panel = this.panelNode();
        if (panel !== this.panel.value) this.panel.value = panel;
      });
    });
  }

  private current(): Status {
    const { state } = this.view;
    const target = alignable(state);
    const panel = panelOf(state);
    return {
      kind: textKind(state),
      marks: SHOWN_MARKS.filter((name) => isActive(state, marks[name] as MarkType)),
      align: target === null ? null : alignOf(target.node),
      aligns: target === null ? [] : alignments(target.node),
      undo: undoDepth(state) > 0,
      redo: redoDepth(state) > 0,
      tools: kindsOf(schema).flatMap(([, { tools }]) => (tools ?? []).filter((tool) => tool.isOn(state)).map(({ name }) => name)),
      menus: Object.fromEntries(
        kindsOf(schema).flatMap(([kind, { menu }]) => {
          const checks = menu?.checks(state) ?? null;
          return checks === null ? [] : [[kind, checks]];
        }),
      ),
      panel: panel === null ? null : { kind: panel.node.type.name, pos: panel.pos },
      block: currentBlock(state)?.node.type.name ?? null,
      settings: settable(state).length > 0,
      classic: state.doc.attrs["classic"] === true,
    };
  }

  private panelNode(): Node | null {
    return panelOf(this.view.state)?.node ?? null;
  }

  destroy(): void {
    this.flush();
    cancelAnimationFrame(this.frame);
    this.view.destroy();
  }
}

/** Work whose time a `PerformanceObserver` can watch; nothing is kept of it. */
function measured(name: string, work: () => void): void {
  const start = performance.now();
  work();
  performance.measure(name, { start });
  performance.clearMeasures(name);
}

/** The innermost block with details. */
function panelOf(state: EditorState): { node: Node; pos: number } | null {
  const found = [...around(state)].find(({ node }) => kindOf(node).Details !== undefined);
  return found !== undefined && kindOf(found.node).hasDetails?.(found.node) !== false ? found : null;
}

function isActive(state: EditorState, type: MarkType): boolean {
  const { from, to, empty, $from } = state.selection;
  if (state.selection instanceof NodeSelection) return false;
  if (empty) return type.isInSet(state.storedMarks ?? $from.marks()) !== undefined;
  return state.doc.rangeHasMark(from, to, type);
}
