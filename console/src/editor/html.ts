/**
 * Markup cut into tags and text without losing a byte, as a browser would cut it. It needs no document.
 */

export interface Token {
  kind: "text" | "open" | "close" | "comment" | "broken";
  raw: string;
  /** In small letters; empty for text and comments. */
  name: string;
  start: number;
  end: number;
}

/** The tokens of a text. A tag or comment that does not end is one `broken` token up to the end of the text. */
export function tokens(html: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  let text = 0;
  const push = (kind: Token["kind"], start: number, end: number, name = "") => {
    if (end > start) found.push({ kind, raw: html.slice(start, end), name, start, end });
  };
  while (at < html.length) {
    const start = html.indexOf("<", at);
    if (start < 0) break;
    const next = html[start + 1] ?? "";
    const comment = next === "!" || next === "?";
    const close = next === "/" && /[a-zA-Z]/.test(html[start + 2] ?? "");
    if (!comment && !close && !/[a-zA-Z]/.test(next)) {
      at = start + 1;
      continue;
    }
    push("text", text, start);
    const end = comment ? endOfComment(html, start) : endOfTag(html, start);
    if (end < 0) {
      push("broken", start, html.length);
      return found;
    }
    if (comment) {
      push("comment", start, end);
    } else {
      const from = start + (close ? 2 : 1);
      let to = from;
      while (to < end && !/[\s/>]/.test(html[to] as string)) to++;
      push(close ? "close" : "open", start, end, html.slice(from, to).toLowerCase());
    }
    at = text = end;
  }
  push("text", text, html.length);
  return found;
}

function endOfComment(html: string, start: number): number {
  if (html.startsWith("<!--", start)) {
    if (html.startsWith(">", start + 4)) return start + 5;
    if (html.startsWith("->", start + 4)) return start + 6;
    const end = html.indexOf("-->", start + 4);
    return end < 0 ? -1 : end + 3;
  }
  const end = html.indexOf(">", start);
  return end < 0 ? -1 : end + 1;
}

function endOfTag(html: string, start: number): number {
  let at = start + 1;
  // A quote opens a value only behind `=`.
  let value = false;
  while (at < html.length) {
    const char = html[at] as string;
    if (char === ">") return at + 1;
    if (value && (char === '"' || char === "'")) {
      at = html.indexOf(char, at + 1);
      if (at < 0) return -1;
      value = false;
    } else if (char === "=") {
      value = true;
    } else if (!/\s/.test(char)) {
      value = false;
    }
    at++;
  }
  return -1;
}

/** An attribute as it is written, with its name in small letters and its value without references. */
export interface Attribute {
  raw: string;
  name: string;
  value: string;
}

/** The attributes of a tag's inside, such as ` class="a" id=b`. */
export function attributes(inside: string): Attribute[] {
  const found: Attribute[] = [];
  const pattern = /([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+))?/g;
  for (const match of inside.matchAll(pattern)) {
    const value = match[2] ?? "";
    const bare = /^["']/.test(value) ? value.slice(1, -1) : value;
    found.push({ raw: match[0], name: (match[1] as string).toLowerCase(), value: decoded(bare) });
  }
  return found;
}

/** The value of an attribute, or null. */
export function attribute(inside: string, name: string): string | null {
  return attributes(inside).find((one) => one.name === name)?.value ?? null;
}

/** Attributes without a value. */
const BOOLEAN = new Set(["reversed", "open"]);

/** The inside of a tag with other values; null takes an attribute away. What is not named stays as it is written. */
export function withAttributes(inside: string, changes: Record<string, string | null>): string {
  const left = { ...changes };
  const parts: string[] = [];
  for (const one of attributes(inside)) {
    if (!(one.name in left)) {
      parts.push(` ${one.raw}`);
    } else {
      const value = left[one.name];
      delete left[one.name];
      if (value === one.value) parts.push(` ${one.raw}`);
      else if (typeof value === "string") parts.push(` ${one.name}="${escapedValue(value)}"`);
    }
  }
  for (const [name, value] of Object.entries(left)) {
    if (value !== null) parts.push(BOOLEAN.has(name) ? ` ${name}` : ` ${name}="${escapedValue(value)}"`);
  }
  return parts.join("");
}

/** The inside of a tag with classes taken away and added. */
export function withClasses(inside: string, gone: (name: string) => boolean, added: string[]): string {
  const now = (attribute(inside, "class") ?? "").split(/\s+/).filter((name) => name !== "");
  const kept = now.filter((name) => !gone(name) && !added.includes(name));
  const all = [...kept, ...added].join(" ");
  return withAttributes(inside, { class: all === "" ? null : all });
}

/** The inside of a tag with other declarations in its style; null takes one away. Others stay as they are written. */
export function withStyle(inside: string, changes: Record<string, string | null>): string {
  // Texts and addresses in a value may have a semicolon.
  const now = (attribute(inside, "style") ?? "").match(/(?:[^;"'(]|"[^"]*"?|'[^']*'?|\([^)]*\)?)+/g)?.map((part) => part.trim()).filter((part) => part !== "") ?? [];
  const kept = now.filter((part) => !((/^[^:\s]+/.exec(part)?.[0] ?? "").toLowerCase() in changes));
  const added = Object.entries(changes).flatMap(([name, value]) => (value === null ? [] : [`${name}:${value}`]));
  const all = [...kept, ...added].join(";");
  return withAttributes(inside, { style: all === "" ? null : all });
}

export function hasClass(inside: string, name: string): boolean {
  return (attribute(inside, "class") ?? "").split(/\s+/).includes(name);
}

/** The inside of an opening tag: ` class="a"` of `<p class="a">`. */
export function insideOf(tag: string): string {
  const match = /^<[^\s/>]+([\s\S]*?)\s*\/?>$/.exec(tag);
  return match?.[1] ?? "";
}

export function escapedValue(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function escapedText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Names of characters that occur in ordinary texts; any other reference stays as it is written. */
const NAMES: Record<string, string> = Object.fromEntries(
  (
    "amp & lt < gt > quot \" apos ' nbsp \u00a0 iexcl ¡ cent ¢ pound £ curren ¤ yen ¥ brvbar ¦ sect § uml ¨ copy © ordf ª laquo « not ¬ reg ® macr ¯ " +
    "deg ° plusmn ± sup2 ² sup3 ³ acute ´ micro µ para ¶ middot · cedil ¸ sup1 ¹ ordm º raquo » frac14 ¼ frac12 ½ frac34 ¾ iquest ¿ " +
    "Agrave À Aacute Á Acirc Â Atilde Ã Auml Ä Aring Å AElig Æ Ccedil Ç Egrave È Eacute É Ecirc Ê Euml Ë Igrave Ì Iacute Í Icirc Î Iuml Ï " +
    "Ntilde Ñ Ograve Ò Oacute Ó Ocirc Ô Otilde Õ Ouml Ö times × Oslash Ø Ugrave Ù Uacute Ú Ucirc Û Uuml Ü szlig ß " +
    "agrave à aacute á acirc â atilde ã auml ä aring å aelig æ ccedil ç egrave è eacute é ecirc ê euml ë igrave ì iacute í icirc î iuml ï " +
    "ntilde ñ ograve ò oacute ó ocirc ô otilde õ ouml ö divide ÷ oslash ø ugrave ù uacute ú ucirc û uuml ü yuml ÿ " +
    "OElig Œ oelig œ Scaron Š scaron š ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ " +
    "prime ′ Prime ″ lsaquo ‹ rsaquo › euro € trade ™ larr ← uarr ↑ rarr → darr ↓ harr ↔ minus − infin ∞ ne ≠ le ≤ ge ≥ hearts ♥"
  )
    .split(" ")
    .reduce<[string, string][]>((pairs, word, index, all) => {
      if (index % 2 === 0) pairs.push([word, all[index + 1] as string]);
      return pairs;
    }, []),
);

/** The character that a reference such as `&amp;` or `&#8217;` stands for; null where it is to stay as it is written. */
export function character(reference: string): string | null {
  const inside = reference.slice(1, -1);
  if (!inside.startsWith("#")) return Object.hasOwn(NAMES, inside) ? (NAMES[inside] as string) : null;
  const hex = /^#[xX]/.test(inside);
  const code = hex ? Number.parseInt(inside.slice(2), 16) : Number.parseInt(inside.slice(1), 10);
  const letter = code >= 32 && !(code >= 127 && code < 160) && !(code >= 0xd800 && code < 0xe000) && code <= 0x10ffff;
  return letter ? String.fromCodePoint(code) : null;
}

export const REFERENCE = /&(?:[a-zA-Z][a-zA-Z0-9]{1,10}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});/g;

/** A text with its references replaced by the characters that they stand for. */
export function decoded(text: string): string {
  return text.replace(REFERENCE, (reference) => character(reference) ?? reference);
}
