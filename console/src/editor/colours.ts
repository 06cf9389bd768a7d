/**
 * Colours of blocks: those that the site names, written as a class, and others, written as a style. Attributes of the delimiter,
 * classes and style change together, as WordPress's own editor changes them.
 */
import type { Node } from "prosemirror-model";
import { jsonWith, usualTag } from "./generate";
import { readJson } from "./grammar";
import { attribute, hasClass, insideOf, withClasses, withStyle } from "./html";
import { attrsOf } from "./schema";

/** A colour by the name that the site has for it, or by its value. */
export type Colour = { slug: string } | { value: string };

/** Which colour of a block: of its text, of the ground behind it, or of what lies over the picture of a cover. */
export type Part = "text" | "background" | "overlay";

interface Names {
  /** Attribute for a named colour, and the path of the attribute for another one. */
  named: string;
  own: string[];
  /** Of a class: `has-NAME` and this. */
  suffix: string;
  /** The class that says that there is a colour. */
  mark: string;
  style: string;
}

const PARTS: Record<Part, Names> = {
  text: { named: "textColor", own: ["style", "color", "text"], suffix: "-color", mark: "has-text-color", style: "color" },
  background: { named: "backgroundColor", own: ["style", "color", "background"], suffix: "-background-color", mark: "has-background", style: "background-color" },
  overlay: { named: "overlayColor", own: ["customOverlayColor"], suffix: "-background-color", mark: "", style: "background-color" },
};

/** Kinds whose text and ground may have a colour. */
const COLOURED = new Set("paragraph heading list quote pullquote code preformatted verse columns column group media_text details button".split(" "));

/** The element of a cover that lies over its picture. */
export const OVERLAY = /<span(\s[^<>]*class="[^"]*wp-block-cover__background[^"]*"[^<>]*)>/;

/** Attributes of colours that are not chosen here: gradients, and those of older editors. What has one keeps it. */
const OTHERS = [["gradient"], ["customGradient"], ["style", "color", "gradient"], ["customBackgroundColor"], ["customTextColor"]];

/** The colours that a block can have. */
export function coloursOf(node: Node, classic: boolean): Part[] {
  const json = readJson(attrsOf(node).json ?? null);
  const style = attrsOf(node).style;
  const plain = style === "html" || style === "bare" || (style === null && classic);
  if (plain || json === null || !isCurrent(node) || OTHERS.some((path) => at(json, path) !== undefined)) return [];
  if (node.type.name === "cover") return OVERLAY.test(node.attrs["before"] as string) ? ["overlay"] : [];
  return COLOURED.has(node.type.name) ? ["text", "background"] : [];
}

/**
 * Whether a block is written as editors of today write it. Older markup has other rules for its looks: what is typed in it is
 * taken, but looks that it did not know are not.
 */
export function isCurrent(node: Node): boolean {
  const { tag, style } = attrsOf(node);
  const { before, after, link } = node.attrs as Record<string, string | null>;
  switch (node.type.name) {
    case "cover":
      return OVERLAY.test(before ?? "");
    case "media_text": {
      const classes = `<div${tag ?? usualTag(node, false)}>`;
      const stacked = readJson(attrsOf(node).json)?.["isStackedOnMobile"] !== false;
      const place = hasClass(classes, "has-media-on-the-right") ? after : before;
      return hasClass(classes, "is-stacked-on-mobile") === stacked && (place ?? "").includes("<figure");
    }
    case "button":
      return link === null || link === undefined || hasClass(link, "wp-element-button");
    default: {
      const [usual] = attribute(usualTag(node.type.create(), false), "class")?.split(" ") ?? [];
      return style !== "old" && (tag === null || tag === undefined || usual === undefined || hasClass(`<p${tag}>`, usual));
    }
  }
}

function at(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((found, name) => (typeof found === "object" && found !== null ? (found as Record<string, unknown>)[name] : undefined), value);
}

/** The colour that a block has. */
export function colourOf(node: Node, part: Part): Colour | null {
  const json = readJson(attrsOf(node).json);
  const names = PARTS[part];
  const slug = at(json, [names.named]);
  if (typeof slug === "string" && slug !== "") return { slug };
  const value = at(json, names.own);
  return typeof value === "string" && value !== "" ? { value } : null;
}

/** The name of a colour as classes have it: "color1" is "color-1" there. */
function classNamed(slug: string): string {
  return slug
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .replace(/([a-zA-Z])(\d)/g, "$1-$2")
    .replace(/(\d)([a-zA-Z])/g, "$1-$2")
    .replace(/[^a-zA-Z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase();
}

/** The inside of a tag with a colour. */
function coloured(inside: string, part: Part, before: Colour | null, after: Colour | null): string {
  const names = PARTS[part];
  const named = (colour: Colour | null) => (colour !== null && "slug" in colour ? `has-${classNamed(colour.slug)}${names.suffix}` : null);
  const [old, next] = [named(before), named(after)];
  const marks = names.mark === "" ? [] : [names.mark];
  const added = [...(next === null ? [] : [next]), ...(after === null ? [] : marks)];
  const classes = withClasses(inside, (name) => name === old || marks.includes(name), added);
  return withStyle(classes, { [names.style]: after !== null && "value" in after ? after.value : null });
}

/** An object with a member somewhere in it set, or taken away with all that is empty then. */
function put(value: unknown, path: readonly string[], member: string | undefined): Record<string, unknown> | undefined {
  const now = typeof value === "object" && value !== null && !Array.isArray(value) ? { ...(value as Record<string, unknown>) } : {};
  const [name, ...rest] = path as [string, ...string[]];
  const next = rest.length === 0 ? member : put(now[name], rest, member);
  if (next === undefined) delete now[name];
  else now[name] = next;
  return Object.keys(now).length === 0 ? undefined : now;
}

/** Attributes of a block with another colour; null for that of its surroundings. */
export function withColour(node: Node, part: Part, colour: Colour | null): Record<string, unknown> {
  const names = PARTS[part];
  const before = colourOf(node, part);
  const json = attrsOf(node).json;
  const now = readJson(json) ?? {};
  const [member, ...inner] = names.own as [string, ...string[]];
  const own = colour !== null && "value" in colour ? colour.value : undefined;
  const changes: Record<string, unknown> = {
    [names.named]: colour !== null && "slug" in colour ? colour.slug : undefined,
    [member]: inner.length === 0 ? own : put(now[member], inner, own),
    ...(part === "overlay" && colour !== null ? { isUserOverlayColor: true } : {}),
  };
  const attrs = { ...node.attrs, json: jsonWith(json, changes) };
  if (part === "overlay") {
    const markup = (node.attrs["before"] as string).replace(OVERLAY, (_, inside: string) => `<span${coloured(inside, part, before, colour)}>`);
    return { ...attrs, before: markup };
  }
  if (node.type.name === "button") {
    const link = (node.attrs["link"] as string | null) ?? '<a class="wp-block-button__link wp-element-button">';
    const name = /^<([a-z]+)/.exec(link)?.[1] ?? "a";
    return { ...attrs, link: `<${name}${coloured(insideOf(link), part, before, colour)}>` };
  }
  return { ...attrs, tag: coloured(attrsOf(node).tag ?? usualTag(node, false), part, before, colour) };
}
