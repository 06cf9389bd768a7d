/**
 * Markup for nodes that have none: what WordPress's own editor writes for the same block.
 */
import type { Node } from "prosemirror-model";
import { delimited, jsonWith } from "./grammar";
import { type Job, kindOf } from "./kind";
import { attrsOf } from "./schema";
import type { Place } from "./slices";
import type { Writer } from "./write";

function usualClass(node: Node): string {
  const { usual } = kindOf(node);
  return (typeof usual === "function" ? usual(node) : usual) ?? "";
}

/** Whether a node is written without delimiters, where its own style says it or the content has none. */
export function isWrittenPlain(node: Node, classic: boolean): boolean {
  const { style } = attrsOf(node);
  return style === "html" || style === "bare" || (style === null && classic);
}

/** The inside of the opening tag of a node that has no other. */
export function usualTag(node: Node, classic: boolean): string {
  const usual = usualClass(node);
  return usual === "" || isWrittenPlain(node, classic) ? "" : ` class="${usual}"`;
}

export function delimiters({ node, style }: Job, name: string, html: string, changes: Record<string, unknown> = {}): string {
  if (style !== "block" && style !== "old") return html;
  return delimited(name, jsonWith(attrsOf(node).json, changes), `\n${html}\n`);
}

/** The inside of the opening tag, which has no classes where there are no delimiters. */
export function tag({ node, style }: Job): string {
  const usual = usualClass(node);
  return attrsOf(node).tag ?? (style === "html" || usual === "" ? "" : ` class="${usual}"`);
}

/** The inside of the opening tag, which always has its classes. */
export function fullTag({ node }: Job): string {
  return attrsOf(node).tag ?? ` class="${usualClass(node)}"`;
}

export function element(name: string, block: string) {
  return (job: Job) => delimiters(job, block, `<${name}${tag(job)}>${job.inside}</${name}>`);
}

/** An element that is a part of another block. */
export function partElement(name: string) {
  return ({ node, inside }: Job) => `<${name}${attrsOf(node).tag ?? ""}>${inside}</${name}>`;
}

export function box(block: string) {
  return (job: Job) => {
    const el = job.node.attrs["el"] as string;
    return delimiters(job, block, `<${el}${fullTag(job)}>${job.inside}</${el}>`);
  };
}

export function object(block: string, usual: string, plain = usual) {
  return (job: Job) => delimiters(job, block, (job.node.attrs["source"] as string | null) ?? (job.style === "html" ? plain : usual));
}

export function figcaption({ node, inside }: Job, usual = "wp-element-caption"): string {
  if (node.childCount === 0) return "";
  return `<figcaption${(node.attrs["cap"] as string | null) ?? (usual === "" ? "" : ` class="${usual}"`)}>${inside}</figcaption>`;
}

/** The markup of a node that has none. */
export function generate(writer: Writer, node: Node, place: Place): string {
  const job = { writer, node, place, style: writer.style(node, place), inside: writer.inside(node, place) };
  return kindOf(node).write?.(job) ?? "";
}
