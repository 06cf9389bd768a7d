/**
 * What markup shows, as blocks of words: versions are compared as people read them.
 *
 * The text is parsed by the browser into a document that runs nothing and loads nothing; what is shown is made from words
 * and names of marks alone.
 */

import { tokenDifferences } from "./diff";
import { inert } from "./record";

/** Marks of a word that are shown. */
export type Mark = "strong" | "em" | "code" | "s" | "u" | "sub" | "sup" | "a";

export interface Run {
  text: string;
  marks: Mark[];
  changed: boolean;
}

export interface RenderedBlock {
  /** The name of an element, such as "p", "h2" or "li"; "figure" for what is no text. */
  kind: string;
  /** Lists and quotes around it. */
  depth: number;
  /** The block is of another kind, or is not on the other side. */
  changed: boolean;
  runs: Run[];
}

const MARKS: Record<string, Mark> = { STRONG: "strong", B: "strong", EM: "em", I: "em", CODE: "code", S: "s", DEL: "s", U: "u", SUB: "sub", SUP: "sup", A: "a" };
const BLOCKS = new Set(["P", "H1", "H2", "H3", "H4", "H5", "H6", "LI", "PRE", "TD", "TH", "FIGCAPTION", "CITE", "SUMMARY", "DT", "DD", "HR"]);
const NESTED = new Set(["UL", "OL", "BLOCKQUOTE"]);
const SILENT = new Set(["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT"]);
/** A block that the server makes stands in the text as a comment. */
const MADE = /<!--\s+wp:([a-z][\w/-]*)\s(?:(?!-->)[^])*?\/-->/g;
const WORD = /\s+|[\p{L}\p{M}\p{N}_]+|[^\p{L}\p{M}\p{N}_\s]/gu;
/** Between the parts of a token: it is in no text. */
const BETWEEN = "\u0000";
const BLOCK = `${BETWEEN}block${BETWEEN}`;

/** Longer texts are compared as they are stored. */
export const MOST_RENDERED = 1_000_000;

/** Both sides of a comparison of two texts with markup. */
export function renderedSides(before: string, after: string): { before: RenderedBlock[]; after: RenderedBlock[] } {
  const pieces = tokenDifferences(tokensOf(before), tokensOf(after));
  const side = (left: "added" | "removed"): RenderedBlock[] => blocksOf(pieces.filter((piece) => piece.kind !== left).map((piece) => ({ token: piece.text, changed: piece.kind !== "same" })));
  return { before: side("added"), after: side("removed") };
}

/** A text as a list of beginnings of blocks and of words with their marks. */
function tokensOf(html: string): string[] {
  const tokens: string[] = [];
  const open = (kind: string, depth: number): void => void tokens.push(`${BLOCK}${kind}${BETWEEN}${depth}`);
  const word = (text: string, marks: readonly Mark[]): void => void tokens.push([text, ...marks].join(BETWEEN));
  let inBlock = false;
  const walk = (node: Node, depth: number, marks: readonly Mark[], kept: boolean): void => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = kept ? (node.nodeValue ?? "") : (node.nodeValue ?? "").replace(/\s+/g, " ");
      if (text.trim() === "" && !inBlock) {
        return;
      }
      if (!inBlock) {
        open("p", depth);
        inBlock = true;
      }
      for (const part of text.match(WORD) ?? []) word(part, marks);
    } else if (node instanceof Element && !SILENT.has(node.tagName)) {
      walkElement(node, depth, marks, kept);
    }
  };
  const walkElement = (element: Element, depth: number, marks: readonly Mark[], kept: boolean): void => {
    const { tagName } = element;
    if (tagName === "BR") {
      word("\n", []);
      return;
    }
    const shown = figureOf(element);
    if (shown !== null) {
      open("figure", depth);
      word(shown, []);
      inBlock = false;
      return;
    }
    const mark = MARKS[tagName];
    const next = mark === undefined || marks.includes(mark) ? marks : [...marks, mark];
    if (BLOCKS.has(tagName)) {
      open(tagName.toLowerCase(), depth);
      inBlock = tagName !== "HR";
    } else if (mark === undefined && tagName !== "SPAN") {
      inBlock = false;
    }
    for (const child of element.childNodes) walk(child, NESTED.has(tagName) ? depth + 1 : depth, next, kept || tagName === "PRE");
    if (BLOCKS.has(tagName) || (mark === undefined && tagName !== "SPAN")) {
      inBlock = false;
    }
  };
  // Without paragraphs of its own, a text has one wherever a line is empty.
  const paragraphs = /<p[\s>]|<!-- wp:/i.test(html) ? html : html.replace(/\n\s*\n/g, "<p>");
  for (const child of new DOMParser().parseFromString(inert(paragraphs).replace(MADE, '<data value="$1"></data>'), "text/html").body.childNodes) walk(child, 0, [], false);
  return tokens;
}

/** What stands for an element that is no text: what is said of it, or the name of its file. */
function figureOf(element: Element): string | null {
  if (element.tagName === "DATA") {
    return element.getAttribute("value");
  }
  if (!["IMG", "VIDEO", "AUDIO", "IFRAME", "SOURCE"].includes(element.tagName)) {
    return null;
  }
  const address = element.getAttribute("src") ?? element.querySelector("source")?.getAttribute("src") ?? "";
  const file = address.split(/[?#]/)[0]?.split("/").at(-1) ?? "";
  const said = element.getAttribute("alt") ?? element.getAttribute("title") ?? "";
  return [said.trim(), file].filter((part) => part !== "").join(" · ");
}

function blocksOf(tokens: { token: string; changed: boolean }[]): RenderedBlock[] {
  const blocks: RenderedBlock[] = [];
  for (const { token, changed } of tokens) {
    if (token.startsWith(BLOCK)) {
      const [kind = "p", depth = "0"] = token.slice(BLOCK.length).split(BETWEEN);
      blocks.push({ kind, depth: Number(depth), changed, runs: [] });
      continue;
    }
    const [text = "", ...marks] = token.split(BETWEEN);
    const block = blocks.at(-1);
    const last = block?.runs.at(-1);
    if (last !== undefined && last.changed === changed && last.marks.join() === marks.join()) {
      last.text += text;
    } else {
      block?.runs.push({ text, marks: marks as Mark[], changed });
    }
  }
  return blocks;
}
