/**
 * What of an element's attributes the editor shows: a small list of looks, checked value by value.
 *
 * Content is written by others: nothing of it becomes an attribute of the page that could run, load or cover anything.
 */
import { attribute, attributes } from "./html";
import type { NamedColour } from "./types";

const COLOUR = /^(?:#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/deg]+\)|[a-z]{3,20})$/i;
const LENGTH = /^\d{1,4}(?:\.\d{1,3})?(?:px|em|rem|%|ch|vw|pt)$/i;

const STYLES: Record<string, RegExp> = {
  color: COLOUR,
  "background-color": COLOUR,
  "font-size": LENGTH,
  "flex-basis": /^\d{1,3}(?:\.\d{1,4})?%$/,
  "text-align": /^(?:left|right|center|justify|start|end)$/,
  "font-weight": /^(?:bold|normal|[1-9]00)$/,
  "font-style": /^(?:italic|normal)$/,
  "text-decoration": /^(?:underline|line-through|none)$/,
};

/** How colours look that contents have by their names: those of WordPress's own set, and of the site. */
const named = new Map<string, string>([
  ["black", "#000000"], ["white", "#ffffff"], ["cyan-bluish-gray", "#abb8c3"], ["pale-pink", "#f78da7"], ["vivid-red", "#cf2e2e"],
  ["luminous-vivid-orange", "#ff6900"], ["luminous-vivid-amber", "#fcb900"], ["light-green-cyan", "#7bdcb5"], ["vivid-green-cyan", "#00d084"],
  ["pale-cyan-blue", "#8ed1fc"], ["vivid-cyan-blue", "#0693e3"], ["vivid-purple", "#9b51e0"],
]);

export function showColours(palette: readonly NamedColour[]): void {
  for (const { slug, colour } of palette) if (COLOUR.test(colour)) named.set(slug, colour);
}

/** How a colour looks that is named so. */
export function namedColour(slug: string): string | null {
  return named.get(slug) ?? null;
}

/** The declarations that classes of named colours mean. */
function namedStyle(classes: string | null): string {
  const parts: string[] = [];
  for (const name of (classes ?? "").split(/\s+/)) {
    const [, slug = "", ground] = /^has-([a-z0-9-]+?)(-background)?-color$/.exec(name) ?? [];
    const colour = named.get(slug);
    if (colour !== undefined) parts.push(`${ground === undefined ? "color" : "background-color"}: ${colour}`);
  }
  return parts.join(";");
}

/** The declarations of a style that may be shown. */
export function safeStyle(style: string | null): string {
  if (style === null) return "";
  const kept: string[] = [];
  for (const part of style.split(";").slice(0, 20)) {
    const colon = part.indexOf(":");
    const name = part.slice(0, colon).trim().toLowerCase();
    const value = part.slice(colon + 1).trim();
    if (colon > 0 && STYLES[name]?.test(value)) kept.push(`${name}: ${value}`);
  }
  const ground = kept.find((part) => part.startsWith("background-color:"));
  // An author who chose a background chose it for dark text, which the console may not have.
  if (ground !== undefined && !kept.some((part) => part.startsWith("color:"))) kept.push(`color: ${inkOn(ground.slice("background-color:".length).trim())}`);
  return kept.join("; ");
}

/** Black or white, whichever can be read on a colour. */
function inkOn(colour: string): string {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(colour)?.[1];
  if (hex === undefined) return "#1d1f21";
  const parts = hex.length === 3 ? [...hex].map((digit) => digit + digit) : [hex.slice(0, 2), hex.slice(2, 4), hex.slice(4)];
  const [red, green, blue] = parts.map((part) => Number.parseInt(part, 16) / 255) as [number, number, number];
  const bright = 0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2;
  return bright > 0.18 ? "#1d1f21" : "#ffffff";
}

/** Looks of the inside of a tag, as attributes of an element of the editor. */
export function looks(inside: string | null): Record<string, string> {
  const shown: Record<string, string> = {};
  if (inside === null || inside === "") return shown;
  const style = safeStyle([namedStyle(attribute(inside, "class")), attribute(inside, "style") ?? ""].join(";"));
  if (style !== "") shown["style"] = style;
  const align = alignment(inside);
  if (align !== null) shown["data-align"] = align;
  for (const one of attributes(inside)) {
    if ((one.name === "dir" && /^(?:ltr|rtl|auto)$/.test(one.value)) || (one.name === "lang" && /^[\w-]{1,35}$/.test(one.value))) {
      shown[one.name] = one.value;
    }
  }
  return shown;
}

/** The alignment that classes, a style or the old attribute give. */
export function alignment(inside: string): string | null {
  const name = /(?:^|\s)(?:has-text-align-|align)(left|center|right|wide|full)(?:\s|$)/.exec(attribute(inside, "class") ?? "")?.[1];
  if (name !== undefined) return name;
  const style = /(?:^|;)\s*text-align:\s*(left|center|right)/.exec(attribute(inside, "style") ?? "")?.[1];
  return style ?? /^(left|center|right)$/.exec(attribute(inside, "align") ?? "")?.[1] ?? null;
}

/** The address of a link, or null when following it could run something. */
export function safeAddress(address: string | null): string | null {
  if (address === null) return null;
  // Browsers skip white space and control characters within a scheme.
  const plain = address.replace(/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028\u2029\ufeff]/g, "");
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(plain)?.[1]?.toLowerCase();
  // A reference such as `&colon;` might be read as the sign that it stands for.
  if (scheme === undefined) return /^[^/?#]*[&:]/.test(plain) ? null : address.trim();
  return ["http", "https", "mailto", "tel"].includes(scheme) ? address.trim() : null;
}

/** Origins whose pictures the page may load, beside its own. */
const known = new Set<string>();

/** Pictures of the site are shown, by whatever name the site is known. */
export function showPicturesOf(site: string): void {
  if (URL.canParse(site)) known.add(new URL(site).origin);
}

/** The address that a picture is shown by; empty for one of another site: the editor asks for nothing elsewhere. */
export function shownPicture(address: string | null): string {
  const safe = safePicture(address);
  if (safe === null || !URL.canParse(safe, location.href)) return "";
  const { origin, protocol } = new URL(safe, location.href);
  return origin === location.origin || known.has(origin) || /^(?:data|blob):$/.test(protocol) ? safe : "";
}

/** The address of a picture, or null. */
export function safePicture(address: string | null): string | null {
  const safe = safeAddress(address);
  return safe !== null && /^(?:mailto|tel):/i.test(safe) ? null : safe;
}
