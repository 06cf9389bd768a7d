/**
 * Copying and pasting.
 *
 * What was copied in this editor comes back as it was; everything from elsewhere is cleaned (`clean.ts`) and becomes new blocks.
 */
import { closeHistory } from "prosemirror-history";
import { Fragment, type Node, Slice } from "prosemirror-model";
import type { EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { schema } from "./blocks";
import { clean } from "./clean";
import { isPart } from "./commands";
import { fresh } from "./convert";
import { escapedText } from "./html";
import { safeAddress } from "./looks";
import { firstOf, kindOf, takesBlocks } from "./kind";
import { fromMarkdown, looksLikeMarkdown } from "./markdown";
import { Content } from "./read";

/** The last piece that was copied here, and the HTML that went with it: nobody else knows that it was copied here. */
let copied: { html: string; slice: Slice } | null = null;

/** Writes the selection to the clipboard as markup and as text. */
export function copy(view: EditorView, event: ClipboardEvent, content: Content): boolean {
  const { selection, doc } = view.state;
  if (selection.empty || event.clipboardData === null) return false;
  const slice = selection.content();
  const html = markupOf(slice, content, doc);
  event.preventDefault();
  event.clipboardData.setData("text/html", html);
  event.clipboardData.setData("text/plain", slice.content.textBetween(0, slice.content.size, "\n\n", leafText));
  copied = { html, slice };
  return true;
}

function leafText(node: Node): string {
  return node.type.name === "hard_break" ? "\n" : node.type.name === "newline" ? " " : "";
}

function markupOf(slice: Slice, content: Content, doc: Node): string {
  const parts: string[] = [];
  slice.content.forEach((node) => {
    if (node.isBlock) parts.push(content.writeBlock(doc, complete(node)));
    else parts.push(escapedText(node.textContent));
  });
  return parts.join("\n\n");
}

/** A node that a selection has cut may lack children that it needs. */
function complete(node: Node): Node {
  return node.type.validContent(node.content) ? node : (node.type.createAndFill(node.attrs, node.content) ?? schema.node("paragraph"));
}

/** Takes what is pasted; false lets the editor do what it usually does. */
export function paste(view: EditorView, event: ClipboardEvent, plainOnly: boolean): boolean {
  const data = event.clipboardData;
  if (data === null || view.state.selection.$from.parent.type.spec.code === true) return false;
  const html = data.getData("text/html");
  const text = data.getData("text/plain");
  if (!plainOnly && copied !== null && html !== "" && unwrapped(html) === unwrapped(copied.html)) {
    return put(view, copied.slice);
  }
  if (plainOnly) return putText(view, text);
  if (linked(view, text)) return true;
  if (html !== "" && !isSource(html, text)) return putMarkup(view, clean(html));
  if (looksLikeMarkdown(text)) return putMarkup(view, fromMarkdown(text));
  return putText(view, text);
}

/** Browsers put marks around what is copied. */
function unwrapped(html: string): string {
  return html.replace(/<!--(?:Start|End)Fragment-->|<\/?(?:html|body|head)>|<meta[^>]*>/g, "").trim();
}

/** Code editors give text in colours: when it is Markdown, the text is what was meant. */
function isSource(html: string, text: string): boolean {
  return !/<(?:p|h[1-6]|li|table|strong|b|em|i|a|blockquote)[\s>]/i.test(html) && looksLikeMarkdown(text);
}

/** An address over a selected text makes a link of it; one that can be embedded, alone in a paragraph, becomes an embed. */
function linked(view: EditorView, text: string): boolean {
  const address = /^\s*(https?:\/\/\S+)\s*$/.exec(text)?.[1];
  const safe = address === undefined ? null : safeAddress(address);
  if (safe === null) return false;
  const { state } = view;
  const { selection } = state;
  const mark = schema.mark("link", { href: safe });
  if (!selection.empty && selection.$from.sameParent(selection.$to) && selection.$from.parent.isTextblock) {
    view.dispatch(state.tr.addMark(selection.from, selection.to, mark));
    return true;
  }
  const alone = selection.empty && selection.$from.depth === 1 && selection.$from.parent.type.name === "paragraph" && selection.$from.parent.content.size === 0;
  const embed = alone && state.doc.attrs["classic"] !== true ? firstOf(schema, ({ ofAddress }) => ofAddress?.(safe)) : null;
  if (embed !== null) {
    view.dispatch(state.tr.replaceWith(selection.$from.before(), selection.$from.after(), [embed, schema.node("paragraph")]).scrollIntoView());
    return true;
  }
  if (!selection.empty || alone) return false;
  view.dispatch(state.tr.replaceSelectionWith(schema.text(safe, [mark]), false).scrollIntoView());
  return true;
}

function putText(view: EditorView, text: string): boolean {
  const paragraphs = text.replace(/\r\n?/g, "\n").split(/\n{2,}/).filter((one) => one.trim() !== "");
  if (paragraphs.length === 0) return true;
  const html = paragraphs.map((one) => `<p>${one.split("\n").map(escapedText).join("<br>")}</p>`);
  return putMarkup(view, html.join("\n"));
}

/** Puts clean markup in the place of the selection. */
function putMarkup(view: EditorView, html: string): boolean {
  if (html === "") return true;
  return put(view, sliceOf(html, view.state.doc.attrs["classic"] === true));
}

/** The nodes of clean markup, as what is between two places of a text. */
export function sliceOf(html: string, classic: boolean): Slice {
  const nodes = Content.read("")
    .nodes(html, "top", false)
    .map((node) => (node.type.name === "verbatim" ? textOf(node) : fresh(node)))
    .map((node) => (classic && kindOf(node).plain !== true ? textOf(node) : node))
    .map((node) => (node.type.name === "paragraph" ? firstOf(schema, ({ ofParagraph }) => ofParagraph?.(node)) : null) ?? node);
  const open = (node: Node | undefined) => (node?.type.name === "paragraph" ? 1 : 0);
  return new Slice(Fragment.fromArray(nodes), open(nodes[0]), open(nodes[nodes.length - 1]));
}

function textOf(node: Node): Node {
  const text = node.type.name === "verbatim" ? (node.attrs["source"] as string) : node.textContent;
  return schema.node("paragraph", null, text === "" ? [] : [schema.text(text)]);
}

function put(view: EditorView, slice: Slice): boolean {
  const { state } = view;
  const flat = needsText(state) ? flattened(slice) : slice;
  view.dispatch(closeHistory(state.tr.replaceSelection(flat)).scrollIntoView().setMeta("paste", true));
  return true;
}

/** Whether only text may be where the cursor is: in a cell, a caption, a button. */
function needsText(state: EditorState): boolean {
  const { $from } = state.selection;
  if (!$from.parent.isTextblock) return false;
  const parent = $from.node(-1);
  return !(takesBlocks(parent) || kindOf(parent).ownText === true) || isPart($from.parent);
}

/** The texts of a slice, with breaks between them. */
function flattened(slice: Slice): Slice {
  const parts: Node[] = [];
  const collect = (content: Fragment) =>
    content.forEach((node) => {
      if (node.isInline) return parts.push(node);
      if (node.isTextblock) {
        if (parts.length > 0 && node.content.size > 0) parts.push(schema.node("hard_break"));
        node.content.forEach((child) => parts.push(child));
        return parts.length;
      }
      collect(node.content);
      return parts.length;
    });
  collect(slice.content);
  return new Slice(Fragment.fromArray(parts), 0, 0);
}
