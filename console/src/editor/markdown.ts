/**
 * Markdown that was pasted as plain text, to markup.
 *
 * The parts that people paste: headings, emphasis, code, links, pictures, lists, quotes, lines and tables. A library would bring 40 to
 * 100 KB for the rest, and write HTML that had to be cleaned again: everything here is escaped where it is written.
 */
import { escapedText, escapedValue } from "./html";
import { safeAddress } from "./looks";

const LIST = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$/;
const FENCE = /^ {0,3}(```+|~~~+)\s*[\w+-]*\s*$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const TABLE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$/;
/** Deeper quotes and lists are text. */
const MAX_DEPTH = 12;

/** Whether a text was written as Markdown, rather than being text that has such signs. */
export function looksLikeMarkdown(text: string): boolean {
  if (text.length > 200_000) return false;
  const lines = text.split(/\r?\n/);
  if (lines.some((line) => HEADING.test(line) || FENCE.test(line) || TABLE.test(line))) return true;
  if (/\[[^\]\n]{1,200}\]\((?:https?:|mailto:|\/|#)[^)\s]{0,2000}\)/.test(text) || /(?:^|\s)\*\*[^*\s][^*\n]{0,500}\*\*/.test(text)) return true;
  return lines.filter((line) => LIST.test(line)).length >= 2 || (lines.length > 1 && lines.some((line) => /^>\s?\S/.test(line)));
}

/** Blocks of markup, one a line. */
export function fromMarkdown(text: string): string {
  return blocks(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0).join("\n");
}

function blocks(lines: string[], depth: number): string[] {
  const out: string[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] as string;
    const heading = HEADING.exec(line);
    if (line.trim() === "") {
      at++;
    } else if (heading !== null) {
      const level = (heading[1] as string).length;
      out.push(`<h${level}>${inline(heading[2] as string)}</h${level}>`);
      at++;
    } else if (FENCE.test(line)) {
      at = fence(lines, at, out);
    } else if (RULE.test(line)) {
      out.push("<hr/>");
      at++;
    } else if (/^ {0,3}>/.test(line) && depth < MAX_DEPTH) {
      let end = at;
      while (end < lines.length && (lines[end] as string).trim() !== "") end++;
      const inner = lines.slice(at, end).map((one) => one.replace(/^ {0,3}> ?/, ""));
      out.push(`<blockquote>${blocks(inner, depth + 1).join("\n")}</blockquote>`);
      at = end;
    } else if (LIST.test(line) && depth < MAX_DEPTH) {
      const list = listFrom(lines, at, depth);
      out.push(list.html);
      at = list.end;
    } else if (TABLE.test(lines[at + 1] ?? "") && line.includes("|")) {
      at = table(lines, at, out);
    } else {
      at = paragraph(lines, at, out);
    }
  }
  return out;
}

function fence(lines: string[], start: number, out: string[]): number {
  const mark = (FENCE.exec(lines[start] as string)?.[1] as string).slice(0, 3);
  let end = start + 1;
  while (end < lines.length && !(lines[end] as string).trim().startsWith(mark)) end++;
  const code = lines.slice(start + 1, end).join("\n");
  out.push(`<pre><code>${escapedText(code).replaceAll("[", "&#91;")}</code></pre>`);
  return end + 1;
}

function paragraph(lines: string[], start: number, out: string[]): number {
  let end = start + 1;
  const ends = (line: string) => line.trim() === "" || HEADING.test(line) || FENCE.test(line) || /^ {0,3}>/.test(line) || LIST.test(line);
  while (end < lines.length && !ends(lines[end] as string)) {
    const under = /^ {0,3}(=+|-+)\s*$/.exec(lines[end] as string)?.[1];
    if (under !== undefined) {
      const level = under.startsWith("=") ? 1 : 2;
      out.push(`<h${level}>${inline(lines.slice(start, end).join(" "))}</h${level}>`);
      return end + 1;
    }
    end++;
  }
  const text = lines.slice(start, end).map((line, index, all) => {
    const broken = index < all.length - 1 && /(?: {2,}|\\)$/.test(line);
    return inline(line.replace(/\\$/, "").trim()) + (broken ? "<br>" : index < all.length - 1 ? " " : "");
  });
  out.push(`<p>${text.join("")}</p>`);
  return end;
}

function listFrom(lines: string[], start: number, depth: number): { html: string; end: number } {
  const first = LIST.exec(lines[start] as string) as RegExpExecArray;
  const indent = (first[1] as string).length;
  const ordered = /\d/.test(first[2] as string);
  const items: string[] = [];
  let at = start;
  while (at < lines.length) {
    const match = LIST.exec(lines[at] as string);
    if (match === null || (match[1] as string).length !== indent || /\d/.test(match[2] as string) !== ordered) break;
    let end = at + 1;
    const inner: string[] = [];
    while (end < lines.length) {
      const line = lines[end] as string;
      const deeper = /^ */.exec(line)?.[0].length ?? 0;
      const next = lines[end + 1] ?? "";
      if (line.trim() === "" ? !(/^ */.exec(next)?.[0].length ?? 0 > indent) || next.trim() === "" : deeper <= indent) break;
      inner.push(line.slice(Math.min(deeper, indent + 2)));
      end++;
    }
    items.push(item(match[3] as string, inner, depth));
    at = end;
    // Blank lines between items are no end of the list.
    if ((lines[at] ?? "x").trim() === "" && sameList(lines[at + 1], indent, ordered)) at++;
  }
  const name = ordered ? "ol" : "ul";
  const begin = ordered && first[2] !== undefined ? Number.parseInt(first[2], 10) : 1;
  return { html: `<${name}${begin > 1 ? ` start="${begin}"` : ""}>${items.join("")}</${name}>`, end: at };
}

function sameList(line: string | undefined, indent: number, ordered: boolean): boolean {
  const match = line === undefined ? null : LIST.exec(line);
  return match !== null && (match[1] as string).length === indent && /\d/.test(match[2] as string) === ordered;
}

function item(text: string, inner: string[], depth: number): string {
  const box = /^\[([ xX])\]\s+/.exec(text);
  const shown = box === null ? text : `${box[1] === " " ? "☐" : "☑"} ${text.slice(box[0].length)}`;
  const rest = blocks(inner, depth + 1);
  const lists = rest.filter((block) => /^<[uo]l/.test(block));
  const texts = rest.filter((block) => !/^<[uo]l/.test(block)).map((block) => block.replace(/<\/?(?:p|h[1-6]|blockquote|pre)>/g, ""));
  return `<li>${[inline(shown), ...texts].join("<br>")}${lists.join("")}</li>`;
}

function table(lines: string[], start: number, out: string[]): number {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.replaceAll("\\|", "|").trim()));
  const head = cells(lines[start] as string);
  const row = (tag: string, texts: string[]) => `<tr>${head.map((_, index) => `<${tag}>${texts[index] ?? ""}</${tag}>`).join("")}</tr>`;
  const rows: string[] = [];
  let end = start + 2;
  while (end < lines.length && (lines[end] as string).includes("|")) rows.push(row("td", cells(lines[end++] as string)));
  const body = rows.length === 0 ? row("td", []) : rows.join("");
  out.push(`<table><thead>${row("th", head)}</thead><tbody>${body}</tbody></table>`);
  return end;
}

/** Emphasis, code, links and pictures within a line. */
function inline(text: string): string {
  const pattern =
    /\\([\\`*_{}[\]()#+\-.!|>~])|(`+)([^`]|[^`][^\n]*?[^`])\2(?!`)|(!?)\[([^\]\n]{0,500})\]\(<?([^)\s>]{0,2000})>?(?:\s+"[^"\n]{0,500}")?\)|<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>|(\*\*\*|___)(?=\S)([^\n]{1,2000}?\S)\8|(\*\*|__)(?=\S)([^\n]{0,2000}?\S)\10|(~~)(?=\S)([^\n]{0,2000}?\S)~~|(?<![\w*])(\*|_)(?=[^\s*_])([^\n*_]{0,2000}?[^\s*_]|[^\s*_])\14(?![\w*])/g;
  const parts: string[] = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(escapedText(text.slice(at, match.index)));
    at = match.index + match[0].length;
    parts.push(piece(match));
  }
  parts.push(escapedText(text.slice(at)));
  return parts.join("");
}

function piece(match: RegExpExecArray): string {
  const [whole, escaped, ticks, code, picture, label, target, auto, , both, , bold, gone, struck, , slanted] = match;
  if (escaped !== undefined) return escapedText(escaped);
  if (ticks !== undefined) return `<code>${escapedText((code as string).trim())}</code>`;
  if (auto !== undefined) return linked(auto, escapedText(auto.replace(/^mailto:/, "")));
  if (target !== undefined) {
    const safe = safeAddress(target);
    if (safe === null) return inline(label as string);
    if (picture === "!") return /^https?:/i.test(safe) ? `<img src="${escapedValue(safe)}" alt="${escapedValue(label as string)}"/>` : escapedText(label as string);
    return linked(safe, inline(label as string));
  }
  if (both !== undefined) return `<strong><em>${inline(both)}</em></strong>`;
  if (bold !== undefined) return `<strong>${inline(bold)}</strong>`;
  if (gone !== undefined) return `<s>${inline(struck as string)}</s>`;
  if (slanted !== undefined) return `<em>${inline(slanted)}</em>`;
  return escapedText(whole);
}

function linked(address: string, text: string): string {
  const safe = safeAddress(address);
  return safe === null ? text : `<a href="${escapedValue(safe)}">${text}</a>`;
}
