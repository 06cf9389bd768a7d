/**
 * Files on their way to the server: a card in the text with a bar, which is no part of the document. Files that were
 * given together stay together: each is put behind those before it, whenever it arrives.
 */
import { Fragment, type Node } from "prosemirror-model";
import { type EditorState, Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { t } from "../i18n";
import { announce, toast } from "../ui";
import { schema } from "./blocks";
import { hostDepth } from "./commands";
import { firstOf, kindOf } from "./kind";
import type { EditorProps } from "./types";

/** A file of a group: its card, and what it became. `undefined`: it is on its way; `null`: nothing comes of it. */
interface Slot {
  file: File;
  dom: HTMLElement;
  node: Node | null | undefined;
}

/** Files that were given together. */
interface Group {
  slots: Slot[];
}

/** Where the next file of each group is put. A place stays, whatever becomes of the text around it. */
type Places = Map<Group, number>;

const key = new PluginKey<Places>("uploads");

/** Keeps the places of groups while the text around them changes, and shows the cards there. */
export function uploadsPlugin(): Plugin {
  return new Plugin<Places>({
    key,
    state: {
      init: () => new Map(),
      apply(tr, places) {
        const change = tr.getMeta(key) as { group: Group; place: number | null } | undefined;
        if (change === undefined && (!tr.docChanged || places.size === 0)) return places;
        const mapped: Places = new Map([...places].map(([group, place]) => [group, tr.mapping.map(place)]));
        if (change?.place === null) mapped.delete(change.group);
        else if (change !== undefined) mapped.set(change.group, change.place);
        return mapped;
      },
    },
    props: { decorations: cards },
  });
}

function cards(state: EditorState): DecorationSet {
  const found: Decoration[] = [];
  for (const [group, place] of key.getState(state) ?? []) {
    for (const { dom, node } of group.slots) {
      if (node === undefined) found.push(Decoration.widget(place, dom, { side: 1, stopEvent: () => true, ignoreSelection: true }));
    }
  }
  return DecorationSet.create(state.doc, found);
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

/** Sends files, and puts what they become at a place, in their order. */
export function upload(view: EditorView, all: File[], pos: number, props: EditorProps): void {
  const taken = all.filter((file) => takes(file, props));
  const files = taken.slice(0, MOST);
  if (taken.length < all.length) toast.info(t("editor.upload_not_taken", { count: all.length - taken.length }));
  if (files.length < taken.length) toast.info(t("editor.upload_too_many", { count: MOST }));
  if (files.length === 0) return;
  const group: Group = { slots: [] };
  const sending = files.map((file) => {
    const abort = new AbortController();
    const { dom, progress } = card(file, () => abort.abort());
    const slot: Slot = { file, dom, node: undefined };
    group.slots.push(slot);
    return () => void send(view, group, slot, sent(file, props, progress, abort.signal), abort.signal);
  });
  view.dispatch(view.state.tr.setMeta(key, { group, place: startOf(view.state, pos) }));
  for (const begin of sending) begin();
}

/** Cards are between blocks, not within texts: before an empty paragraph, which the first file replaces, else behind the text. */
function startOf(state: EditorState, pos: number): number {
  const $pos = state.doc.resolve(pos);
  if ($pos.depth === 0 || !$pos.parent.isTextblock) return pos;
  return isEmptyParagraph($pos.parent) ? $pos.before() : $pos.after();
}

function isEmptyParagraph(node: Node | null): boolean {
  return node?.type.name === "paragraph" && node.content.size === 0;
}

async function send(view: EditorView, group: Group, slot: Slot, coming: Promise<Node | null>, signal: AbortSignal): Promise<void> {
  slot.node = await coming.catch((error: unknown) => {
    if (!view.isDestroyed && !signal.aborted) toast.failed(error);
    return null;
  });
  if (!view.isDestroyed) settle(view, group);
}

async function sent(file: File, props: EditorProps, progress: (part: number) => void, signal: AbortSignal): Promise<Node | null> {
  if (file.type.startsWith("image/") && props.picture?.upload !== undefined) {
    const picture = await props.picture.upload(file, progress, signal);
    return firstOf(schema, ({ ofPicture }) => ofPicture?.(picture));
  }
  const item = await props.file?.upload?.(file, progress, signal);
  return item === undefined ? null : firstOf(schema, ({ ofFile }) => ofFile?.(item));
}

/** Puts the files that have arrived and wait for none before them; the last one ends the group. */
function settle(view: EditorView, group: Group): void {
  while (group.slots[0]?.node !== undefined) {
    const { file, node } = group.slots.shift() as Slot;
    if (node !== null) put(view, group, node as Node, file.name);
  }
  const place = group.slots.length === 0 ? null : (key.getState(view.state)?.get(group) ?? 0);
  view.dispatch(view.state.tr.setMeta(key, { group, place }));
}

/** Puts a node at the place of its group, without taking the cursor from where somebody writes on. */
function put(view: EditorView, group: Group, node: Node, name: string): void {
  const { state } = view;
  const $place = state.doc.resolve(Math.min(key.getState(state)?.get(group) ?? 0, state.doc.content.size));
  // A single delimiter would change how all the rest of classic content is shown.
  const barred = state.doc.attrs["classic"] === true && kindOf(node).plain !== true;
  const depth = barred ? -1 : hostDepth($place, [node], false);
  if (depth < 0) {
    toast.failed(new Error(t("editor.upload_no_place", { name })));
    return;
  }
  const here = depth === $place.depth;
  const at = here ? $place.pos : $place.after(depth + 1);
  const replaced = here && isEmptyParagraph($place.nodeAfter) ? ($place.nodeAfter as Node).nodeSize : 0;
  const tr = state.tr.replaceWith(at, at + replaced, Fragment.from(node));
  tr.setSelection(state.selection.getBookmark().map(tr.mapping).resolve(tr.doc));
  view.dispatch(tr.setMeta(key, { group, place: at + node.nodeSize }));
  announce(t("editor.uploaded", { name }));
}
