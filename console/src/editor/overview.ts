/** What a text comes to: its words, and its headings. */

import type { Node } from "prosemirror-model";
import { kindOf } from "./kind";

export interface Heading {
  level: number;
  text: string;
  pos: number;
}

export interface Overview {
  words: number;
  headings: Heading[];
}

/** A sign of a script without spaces is a word. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*/gu;
/** Headings in the menu. */
const MOST = 200;

/** Words by block: of those that did not change, they are counted already. */
const counted = new WeakMap<Node, number>();

function wordsIn(node: Node): number {
  const known = counted.get(node);
  if (known !== undefined) return known;
  const words = (node.textBetween(0, node.content.size, " ", " ").match(WORD) ?? []).length;
  counted.set(node, words);
  return words;
}

export function overviewOf(doc: Node): Overview {
  let words = 0;
  const headings: Heading[] = [];
  doc.descendants((node, pos) => {
    if (!node.isTextblock) return true;
    words += wordsIn(node);
    const level = kindOf(node).outline?.(node);
    if (level !== undefined && node.textContent.trim() !== "" && headings.length < MOST) {
      headings.push({ level, text: node.textContent.trim(), pos });
    }
    return false;
  });
  return { words, headings };
}
