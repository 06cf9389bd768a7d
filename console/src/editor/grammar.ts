/**
 * Block delimiters in content: `<!-- wp:name {"attr":1} -->…<!-- /wp:name -->`.
 *
 * Makes the same decisions as the server's parser. Nothing is lost: `textOf` of all pieces, joined, is the text.
 */

/** A block, with the texts of its delimiters. */
export interface Block {
  /** With its namespace: "core/paragraph". */
  name: string;
  /** The JSON of the opening delimiter as it is written. */
  json: string | null;
  /** The opening delimiter, or the only one. */
  open: string;
  /** The closing delimiter; null for a block with one delimiter only, and for one that is never closed. */
  close: string | null;
  /** The block has one delimiter and no inside. */
  single: boolean;
  /** Markup and inner blocks in order. */
  inside: Piece[];
}

/** Markup outside any block, or a block. */
export type Piece = string | Block;

/** Blocks inside blocks beyond this depth belong to the last block within it, as on the server. */
const MAX_DEPTH = 64;

interface Delimiter {
  start: number;
  end: number;
  kind: "open" | "close" | "single";
  name: string;
  json: string | null;
}

/** Whether a text is made of blocks, which turns automatic paragraphs off. */
export function hasBlocks(text: string): boolean {
  return text.includes("<!-- wp:") || text.includes("<!-- cms:");
}

/** The full name of a block: "core/paragraph" of "paragraph". */
export function fullName(name: string): string {
  return name.includes("/") ? name : `core/${name}`;
}

/** The text of a piece as it was read. */
export function textOf(piece: Piece): string {
  const parts: string[] = [];
  collect(piece, parts);
  return parts.join("");
}

function collect(piece: Piece, parts: string[]): void {
  if (typeof piece === "string") {
    parts.push(piece);
    return;
  }
  parts.push(piece.open);
  for (const inner of piece.inside) collect(inner, parts);
  if (piece.close !== null) parts.push(piece.close);
}

/**
 * The pieces of a text in order. A closing delimiter closes the innermost open block whatever its name; blocks that are
 * never closed end with the text; a closing delimiter without an open block is text.
 */
export function parse(text: string): Piece[] {
  const done: Piece[] = [];
  const open: Block[] = [];
  /** Opening delimiters that are too deep to become blocks. */
  let flattened = 0;
  let at = 0;
  const target = () => open[open.length - 1]?.inside ?? done;
  const markup = (end: number) => {
    if (end > at) target().push(text.slice(at, end));
    at = end;
  };
  for (const found of delimiters(text)) {
    if (found.kind === "close") {
      if (open.length === 0) continue;
      if (flattened > 0) {
        flattened--;
        continue;
      }
      markup(found.start);
      const block = open.pop() as Block;
      block.close = text.slice(found.start, found.end);
      at = found.end;
      target().push(block);
      continue;
    }
    if (open.length >= MAX_DEPTH) {
      if (found.kind === "open") flattened++;
      continue;
    }
    markup(found.start);
    const block = opened(text, found);
    at = found.end;
    if (block.single) target().push(block);
    else open.push(block);
  }
  markup(text.length);
  for (let block = open.pop(); block !== undefined; block = open.pop()) target().push(block);
  return done;
}

function opened(text: string, found: Delimiter): Block {
  return {
    name: fullName(found.name),
    json: found.json,
    open: text.slice(found.start, found.end),
    close: null,
    single: found.kind === "single",
    inside: [],
  };
}

/** The end of the comment that the search is in, and where its text ends without white space. */
interface CommentEnd {
  at: number;
  trimmed: number;
}

function* delimiters(text: string): Generator<Delimiter> {
  // The end of the comment is searched only when it has been passed, so that the whole search stays linear.
  let end: CommentEnd | null = null;
  let at = 0;
  for (;;) {
    const start = text.indexOf("<!--", at);
    if (start < 0) return;
    if (end === null || end.at < start) {
      end = commentEnd(text, start);
      if (end === null) return;
    }
    const found = delimiter(text, start, end);
    if (found === null) {
      at = start + 4;
    } else {
      at = found.end;
      yield found;
    }
  }
}

function commentEnd(text: string, start: number): CommentEnd | null {
  const at = text.indexOf("-->", start);
  if (at < 0) return null;
  let trimmed = text[at - 1] === "/" ? at - 1 : at;
  while (trimmed > start && isSpace(text.charCodeAt(trimmed - 1))) trimmed--;
  return { at, trimmed };
}

function delimiter(text: string, start: number, comment: CommentEnd): Delimiter | null {
  let at = spaces(text, start + 4);
  if (at < 0) return null;
  const closes = text[at] === "/";
  if (closes) at++;
  if (text.startsWith("wp:", at)) at += 3;
  else if (text.startsWith("cms:", at)) at += 4;
  else return null;
  const nameStart = at;
  at = word(text, at);
  if (at < 0) return null;
  if (text[at] === "/") {
    at = word(text, at + 1);
    if (at < 0) return null;
  }
  const name = text.slice(nameStart, at);
  at = spaces(text, at);
  if (at < 0) return null;
  let json: string | null = null;
  if (text[at] === "{") {
    const end = jsonEnd(text, at, comment);
    if (end < 0) return null;
    json = text.slice(at, end);
    at = spaces(text, end);
    if (at < 0) return null;
  }
  const single = text[at] === "/";
  if (single) at++;
  if (!text.startsWith("-->", at)) return null;
  return { start, end: at + 3, kind: closes ? "close" : single ? "single" : "open", name, json };
}

/** The JSON reaches to the end of its comment, which no JSON contains; white space sets it off. */
function jsonEnd(text: string, start: number, comment: CommentEnd): number {
  if (start >= comment.at) return -1;
  const before = text[comment.at - 1] === "/" ? comment.at - 1 : comment.at;
  const end = comment.trimmed;
  return end > start && end < before && text[end - 1] === "}" ? end : -1;
}

/** The place behind at least one white space, or -1. */
function spaces(text: string, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at > start ? at : -1;
}

/** The place behind a word: a small letter, then small letters, digits, `_` and `-`; or -1. */
function word(text: string, start: number): number {
  let at = start;
  if (!isLetter(text.charCodeAt(at))) return -1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (!isLetter(code) && !(code >= 48 && code <= 57) && code !== 95 && code !== 45) break;
    at++;
  }
  return at;
}

function isLetter(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** The attributes of a block; null when the JSON is none or no object. */
export function readJson(json: string | null): Record<string, unknown> | null {
  if (json === null) return {};
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Attributes as WordPress writes them: without anything that could end the comment around them. */
export function writeJson(attributes: Record<string, unknown>): string | null {
  if (Object.keys(attributes).length === 0) return null;
  return JSON.stringify(attributes)
    .replaceAll("\\\\", "\\u005c")
    .replaceAll("--", "\\u002d\\u002d")
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026")
    .replaceAll('\\"', "\\u0022");
}

/** The attributes of the delimiter with some of them set; `undefined` takes one away. What needs no change stays as it is written. */
export function jsonWith(json: string | null, changes: Record<string, unknown>): string | null {
  const now = readJson(json);
  if (now === null) return json;
  let changed = false;
  for (const [name, value] of Object.entries(changes)) {
    if (JSON.stringify(now[name]) === JSON.stringify(value)) continue;
    changed = true;
    if (value === undefined) delete now[name];
    else now[name] = value;
  }
  return changed ? writeJson(now) : json;
}

/** One block as it is written in a text. */
export function delimited(name: string, json: string | null, inside: string | null): string {
  const short = name.startsWith("core/") ? name.slice(5) : name;
  const attributes = json === null ? "" : `${json} `;
  if (inside === null) return `<!-- wp:${short} ${attributes}/-->`;
  return `<!-- wp:${short} ${attributes}-->${inside}<!-- /wp:${short} -->`;
}
