/**
 * Foreign HTML, such as from a clipboard, to markup of text alone.
 *
 * It is parsed in a document that runs and loads nothing; only elements and attributes named here come out, generated. Classes,
 * styles and what word processors add go.
 */
import { escapedText, escapedValue, tokens } from "./html";
import { safeAddress } from "./looks";

const INLINE: Record<string, string> = {
  b: "strong",
  strong: "strong",
  i: "em",
  em: "em",
  s: "s",
  strike: "s",
  del: "s",
  u: "u",
  sub: "sub",
  sup: "sup",
  code: "code",
  kbd: "kbd",
  tt: "code",
  samp: "code",
  mark: "mark",
  cite: "em",
  dfn: "em",
  var: "em",
};
const SKIPPED = new Set(
  "script style template noscript iframe object embed applet meta link title head base svg math canvas audio video select option button input textarea map form-associated param source".split(" "),
);
const BLOCKS = new Set(
  "p div section article main header footer aside nav address form fieldset figure figcaption center details summary dl dt dd body h1 h2 h3 h4 h5 h6 ul ol li blockquote pre table caption colgroup thead tbody tfoot tr td th hr menu dir".split(" "),
);
/** More than a person writes: what is nested deeper is flattened. */
const MAX_DEPTH = 100;

/** What a block gathers: finished blocks, and a text that is being written. */
class Writer {
  readonly blocks: string[] = [];
  private text = "";

  inline(html: string): void {
    this.text += html;
  }

  /** Ends the text that is being written. */
  end(): void {
    const text = tidy(this.text);
    this.text = "";
    if (text !== "") this.blocks.push(`<p>${text}</p>`);
  }

  block(html: string): void {
    this.end();
    if (html !== "") this.blocks.push(html);
  }
}

/** A text without white space that pages do not show, and without empty marks. */
function tidy(html: string): string {
  let text = html.replace(/[ \t\r\n]+/g, " ");
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(/<(strong|em|s|u|sub|sup|code|kbd|mark|a)(?: [^>]*)?>( ?)<\/\1>/g, "$2").replace(/<\/(strong|em|s|u|code)>( ?)<\1>/g, "$2");
  }
  return text.replace(/(?: |&nbsp;)*<br>(?: |&nbsp;)*/g, "<br>").replace(/^(?:<br>| |&nbsp;)+|(?:<br>| |&nbsp;)+$/g, "");
}

/** Blocks of clean markup, one a line. */
export function clean(html: string): string {
  const parsed = new DOMParser().parseFromString(withoutStyles(html.replace(/<!\[(?:if|endif)[^\]]*\]>|<style\b[\s\S]*?<\/style>/gi, "")), "text/html");
  const writer = new Writer();
  walkAll(parsed.body, writer, 0);
  writer.end();
  return joinLists(writer.blocks).join("\n");
}

/** Styles and event handlers under other names: styles are read, and the policy of the page would complain about each. */
function withoutStyles(html: string): string {
  return tokens(html)
    .map((token) => (token.kind === "open" ? token.raw.replace(/([\s/"'])(on[a-z]+|style)(?=\s*=)/gi, "$1data-$2") : token.raw))
    .join("");
}

function walkAll(parent: Node, writer: Writer, depth: number): void {
  for (const child of Array.from(parent.childNodes)) walk(child, writer, depth);
}

function walk(node: Node, writer: Writer, depth: number): void {
  if (node.nodeType === 3) {
    writer.inline(escapedText(node.textContent ?? "").replaceAll("\u00a0", "&nbsp;"));
    return;
  }
  if (node.nodeType !== 1) return;
  const element = node as Element;
  const name = element.localName;
  if (SKIPPED.has(name) || /mso-list:\s*ignore/i.test(styleOf(element)) || hidden(element)) return;
  if (depth > MAX_DEPTH) {
    writer.inline(escapedText(element.textContent ?? ""));
    return;
  }
  if (BLOCKS.has(name)) walkBlock(element, name, writer, depth + 1);
  else walkInline(element, name, writer, depth + 1);
}

function styleOf(element: Element): string {
  return element.getAttribute("data-style") ?? "";
}

function hidden(element: Element): boolean {
  return /display:\s*none|mso-hide:\s*all|mso-element:\s*(?:comment|header|footer)/i.test(styleOf(element));
}

function walkInline(element: Element, name: string, writer: Writer, depth: number): void {
  if (name === "br") return writer.inline("<br>");
  if (name === "img") return writer.inline(imageOf(element));
  if (holdsBlocks(element)) return walkAll(element, writer, depth);
  const tags = tagsOf(element, name);
  for (const tag of tags) writer.inline(tag);
  walkAll(element, writer, depth);
  for (const tag of [...tags].reverse()) writer.inline(`</${/^<([a-z]+)/.exec(tag)?.[1] ?? ""}>`);
}

/** Around blocks, an inline element says nothing: Google Docs wraps the whole text in `<b>`. */
function holdsBlocks(element: Element): boolean {
  return Array.from(element.querySelectorAll("*")).some((one) => BLOCKS.has(one.localName));
}

/** Whether a style gives a property such a value. */
function says(style: string, property: string, value: RegExp): boolean {
  return style.split(";").some((declaration) => {
    const [name, given] = declaration.split(":", 2);
    return name?.trim().toLowerCase() === property && value.test((given ?? "").trim().toLowerCase());
  });
}

/** The tags that an inline element stands for, by its name and its style. */
function tagsOf(element: Element, name: string): string[] {
  const style = styleOf(element);
  const found: string[] = [];
  const href = name === "a" ? safeAddress(element.getAttribute("href")) : null;
  if (href !== null && href !== "" && !/^#_?(?:mso|_Toc|cmnt|ftn)/i.test(href)) found.push(`<a href="${escapedValue(unwrapped(href))}">`);
  const own = INLINE[name];
  const plain = (own === "strong" && says(style, "font-weight", /^(?:normal|[1-4]00)$/)) || (own === "em" && says(style, "font-style", /^normal$/));
  if (own !== undefined && !plain && !(own === "u" && element.closest("a") !== null)) found.push(`<${own}>`);
  if (says(style, "font-weight", /^(?:bold|bolder|[6-9]00)$/) && own !== "strong" && element.closest("h1,h2,h3,h4,h5,h6,th") === null) found.push("<strong>");
  if (says(style, "font-style", /^(?:italic|oblique)$/) && own !== "em") found.push("<em>");
  if ((says(style, "text-decoration", /line-through/) || says(style, "text-decoration-line", /line-through/)) && own !== "s") found.push("<s>");
  if (says(style, "vertical-align", /^super$/) && own !== "sup") found.push("<sup>");
  if (says(style, "vertical-align", /^sub$/) && own !== "sub") found.push("<sub>");
  return found;
}

/** The address that Google's redirection leads to. */
function unwrapped(href: string): string {
  const match = /^https:\/\/www\.google\.com\/url\?(?:.*&)?q=([^&]+)/.exec(href);
  if (match === null) return href;
  try {
    return safeAddress(decodeURIComponent(match[1] as string)) ?? href;
  } catch {
    return href;
  }
}

function imageOf(element: Element): string {
  const src = safeAddress(element.getAttribute("src"));
  if (src === null || !/^https?:\/\//i.test(src)) return "";
  return `<img src="${escapedValue(src)}" alt="${escapedValue(element.getAttribute("alt") ?? "")}"/>`;
}

function walkBlock(element: Element, name: string, writer: Writer, depth: number): void {
  writer.end();
  if (name === "hr") return writer.block("<hr/>");
  if (name === "ul" || name === "ol" || name === "menu" || name === "dir") return writer.block(listOf(element, name === "ol", depth));
  if (name === "table") return walkTable(element, writer, depth);
  if (name === "pre") {
    const text = (element.textContent ?? "").replace(/\n$/, "");
    return writer.block(text === "" ? "" : `<pre><code>${escapedText(text).replaceAll("[", "&#91;")}</code></pre>`);
  }
  const level = headingLevel(element, name);
  if (level !== null) return writer.block(wrapped(`h${level}`, inlineOf(element, depth)));
  const list = wordList(element);
  if (list !== null) return writer.block(`\u0000${list.level}${list.ordered ? "o" : "u"}${inlineOf(element, depth)}`);
  if (name === "blockquote") {
    const inner = new Writer();
    walkAll(element, inner, depth);
    inner.end();
    const blocks = joinLists(inner.blocks);
    return writer.block(blocks.length === 0 ? "" : `<blockquote>${blocks.join("\n")}</blockquote>`);
  }
  walkAll(element, writer, depth);
  writer.end();
}

function wrapped(name: string, inside: string): string {
  return inside === "" ? "" : `<${name}>${inside}</${name}>`;
}

function headingLevel(element: Element, name: string): number | null {
  const own = /^h([1-6])$/.exec(name)?.[1];
  if (own !== undefined) return Number(own);
  const word = /^MsoHeading([1-6])$|^Heading([1-6])$/.exec(element.className)?.slice(1).find((level) => level !== undefined);
  if (word !== undefined) return Number(word);
  return element.className === "MsoTitle" ? 1 : null;
}

/** The text of an element as one line. */
function inlineOf(element: Element, depth: number): string {
  const inner = new Writer();
  walkAll(element, inner, depth);
  inner.end();
  return inner.blocks.map(textOfBlock).filter((text) => text !== "").join("<br>");
}

function textOfBlock(block: string): string {
  return /^<p>([\s\S]*)<\/p>$/.exec(block)?.[1] ?? block.replace(/<\/?(?:p|h[1-6]|ul|ol|li|blockquote|pre|table|tbody|thead|tr|td|th|hr)\b[^>]*>/g, " ").trim();
}

function listOf(element: Element, ordered: boolean, depth: number): string {
  const items: string[] = [];
  for (const child of Array.from(element.children)) {
    const inner = child.localName === "ul" || child.localName === "ol";
    // A list in a list without an item belongs to the item before.
    if (inner) addToLast(items, listOf(child, child.localName === "ol", depth + 1));
    else if (!SKIPPED.has(child.localName)) items.push(itemOf(child, depth + 1));
  }
  const name = ordered ? "ol" : "ul";
  return items.length === 0 || depth > MAX_DEPTH ? "" : `<${name}>${items.join("")}</${name}>`;
}

function addToLast(items: string[], list: string): void {
  if (list === "") return;
  const last = items.pop() ?? "<li></li>";
  items.push(`${last.slice(0, -5)}${list}</li>`);
}

function itemOf(element: Element, depth: number): string {
  const inner = new Writer();
  walkAll(element, inner, depth);
  inner.end();
  const lists = inner.blocks.filter((block) => /^<[uo]l>/.test(block));
  const texts = inner.blocks.filter((block) => !/^<[uo]l>/.test(block)).map(textOfBlock);
  return `<li>${texts.join("<br>")}${lists.join("")}</li>`;
}

/** Word writes items of lists as paragraphs: how deep, and whether with numbers. */
function wordList(element: Element): { level: number; ordered: boolean } | null {
  const level = /mso-list:[^;"]*\blevel([1-9])/i.exec(styleOf(element))?.[1];
  if (level === undefined) return null;
  const marker = Array.from(element.querySelectorAll("[data-style]")).find((one) => /mso-list:\s*ignore/i.test(styleOf(one)));
  return { level: Number(level), ordered: /^\s*(?:\d+|[a-z]{1,4})[.)]/i.test(marker?.textContent ?? "") };
}

/** Items that follow each other become lists. */
function joinLists(blocks: string[]): string[] {
  const out: string[] = [];
  let items: { level: number; ordered: boolean; html: string }[] = [];
  const flush = () => {
    if (items.length > 0) out.push(nested(items));
    items = [];
  };
  for (const block of blocks) {
    const match = /^\u0000(\d)([ou])([\s\S]*)$/.exec(block);
    if (match === null) {
      flush();
      out.push(block);
    } else {
      items.push({ level: Number(match[1]), ordered: match[2] === "o", html: match[3] as string });
    }
  }
  flush();
  return out;
}

function nested(items: { level: number; ordered: boolean; html: string }[]): string {
  const first = items[0];
  if (first === undefined) return "";
  const done: string[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at] as { html: string };
    let end = at + 1;
    while (end < items.length && (items[end] as { level: number }).level > first.level) end++;
    done.push(`<li>${item.html}${nested(items.slice(at + 1, end))}</li>`);
    at = end;
  }
  const name = first.ordered ? "ol" : "ul";
  return `<${name}>${done.join("")}</${name}>`;
}

function walkTable(element: Element, writer: Writer, depth: number): void {
  const rows = Array.from(element.querySelectorAll("tr")).filter((row) => row.closest("table") === element);
  const read = rows.map((row) => Array.from(row.children).filter((cell) => cell.localName === "td" || cell.localName === "th"));
  const width = Math.max(0, ...read.map((cells) => cells.length));
  const spans = read.some((cells) => cells.some((cell) => span(cell, "colspan") > 1 || span(cell, "rowspan") > 1));
  // A table of one cell is a frame.
  if (width <= 1 && rows.length <= 1) {
    for (const cells of read) for (const cell of cells) walkAll(cell, writer, depth);
    return writer.end();
  }
  const head = read.length > 1 && (read[0] as Element[]).length > 0 && (read[0] as Element[]).every((cell) => cell.localName === "th" || cell.closest("thead") !== null);
  const html = read.map((cells, index) => {
    const name = head && index === 0 ? "th" : "td";
    const written = cells.map((cell) => `<${name}${spanTag(cell, "colspan")}${spanTag(cell, "rowspan")}>${inlineOf(cell, depth)}</${name}>`);
    // Without spans, short rows are filled up.
    while (!spans && written.length < width) written.push(`<${name}></${name}>`);
    return `<tr>${written.join("")}</tr>`;
  });
  const body = html.slice(head ? 1 : 0).join("");
  writer.block(`<table>${head ? `<thead>${html[0] as string}</thead>` : ""}<tbody>${body}</tbody></table>`);
}

function span(cell: Element, name: string): number {
  const value = cell.getAttribute(name) ?? "1";
  return /^[1-9]\d{0,2}$/.test(value) ? Number(value) : 1;
}

function spanTag(cell: Element, name: string): string {
  return span(cell, name) > 1 ? ` ${name}="${span(cell, name)}"` : "";
}
