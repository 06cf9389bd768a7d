/**
 * Files on their way to the server: a card in the text with a bar, which is no part of the document.
 */
import type { Node } from "prosemirror-model";
import { Plugin, PluginKey, TextSelection } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { t } from "../i18n";
import { announce, toast } from "../ui";
import { insertBlocks } from "./commands";
import { makeFile, makeImage } from "./make";
import type { EditorProps } from "./types";

interface Added {
  id: object;
  pos: number;
  dom: HTMLElement;
}

const key = new PluginKey<DecorationSet>("uploads");

/** Keeps the cards where they are while the text around them changes. */
export function uploadsPlugin(): Plugin {
  return new Plugin<DecorationSet>({
    key,
    state: {
      init: () => DecorationSet.empty,
      apply(tr, set) {
        const mapped = set.map(tr.mapping, tr.doc);
        const change = tr.getMeta(key) as { add?: Added; remove?: object } | undefined;
        if (change?.add !== undefined) {
          const { id, pos, dom } = change.add;
          return mapped.add(tr.doc, [Decoration.widget(pos, dom, { id, side: 1, stopEvent: () => true, ignoreSelection: true })]);
        }
        if (change?.remove !== undefined) return mapped.remove(mapped.find(undefined, undefined, (spec) => spec["id"] === change.remove));
        return mapped;
      },
    },
    props: { decorations: (state) => key.getState(state) },
  });
}

function card(file: File, cancel: () => void): { dom: HTMLElement; progress: (part: number) => void } {
  const dom = document.createElement("div");
  dom.className = "editor-upload";
  dom.contentEditable = "false";
  const name = document.createElement("span");
  name.textContent = t("editor.uploading", { name: file.name });
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.setAttribute("aria-label", t("editor.uploading", { name: file.name }));
  const stop = document.createElement("button");
  stop.type = "button";
  stop.className = "button button-small";
  stop.textContent = t("ui.cancel");
  stop.setAttribute("aria-label", t("editor.upload_cancel", { name: file.name }));
  stop.addEventListener("click", cancel);
  dom.append(name, bar, stop);
  return { dom, progress: (part) => (bar.value = Math.min(1, Math.max(0, part))) };
}

/** Whether the editor can take files of this kind. */
export function takes(file: File, { picture, file: files }: EditorProps): boolean {
  return file.type.startsWith("image/") ? picture?.upload !== undefined || files?.upload !== undefined : files?.upload !== undefined;
}

/** At most so many files at once: more are chosen in the library. */
const MOST = 50;

/** Sends files, and puts what they become at a place. */
export function upload(view: EditorView, all: File[], pos: number, props: EditorProps): void {
  const files = all.filter((file) => takes(file, props)).slice(0, MOST);
  for (const file of files) void send(view, file, pos, props);
}

async function send(view: EditorView, file: File, pos: number, props: EditorProps): Promise<void> {
  const id = {};
  const abort = new AbortController();
  const { dom, progress } = card(file, () => abort.abort());
  const $pos = view.state.doc.resolve(pos);
  // Cards are between blocks, not within texts.
  const at = $pos.depth > 0 && $pos.parent.isTextblock ? ($pos.parent.content.size === 0 ? $pos.pos : $pos.after()) : pos;
  view.dispatch(view.state.tr.setMeta(key, { add: { id, pos: at, dom } }));
  try {
    const node = await sent(file, props, progress, abort.signal);
    if (view.isDestroyed) return;
    const place = placeOf(view, id);
    view.dispatch(view.state.tr.setMeta(key, { remove: id }));
    if (node === null || place === null) return;
    put(view, node, place);
    announce(t("editor.uploaded", { name: file.name }));
  } catch (error) {
    if (view.isDestroyed) return;
    view.dispatch(view.state.tr.setMeta(key, { remove: id }));
    if (!abort.signal.aborted) toast.failed(error);
  }
}

async function sent(file: File, props: EditorProps, progress: (part: number) => void, signal: AbortSignal): Promise<Node | null> {
  if (file.type.startsWith("image/") && props.picture?.upload !== undefined) return makeImage(await props.picture.upload(file, progress, signal));
  const item = await props.file?.upload?.(file, progress, signal);
  return item === undefined ? null : makeFile(item, t("editor.download"));
}

function placeOf(view: EditorView, id: object): number | null {
  return key.getState(view.state)?.find(undefined, undefined, (spec) => spec["id"] === id)[0]?.from ?? null;
}

/** Puts a node at a place without taking the cursor from where somebody writes on. */
function put(view: EditorView, node: Node, place: number): void {
  const { state } = view;
  const here = TextSelection.near(state.doc.resolve(Math.min(place, state.doc.content.size)), -1);
  const kept = state.selection.getBookmark();
  const probe = state.apply(state.tr.setSelection(here));
  insertBlocks([node])(probe, (made) => {
    const tr = state.tr;
    for (const step of made.steps) tr.step(step);
    const resolved = kept.map(tr.mapping).resolve(tr.doc);
    view.dispatch(tr.setSelection(resolved));
  });
}
