/**
 * Colours of blocks: those that the site names, written as a class, and others, written as a style. Attributes of the delimiter,
 * classes and style change together, as WordPress's own editor changes them.
 */
import type { Attrs, Node } from "prosemirror-model";
import { isWrittenPlain, usualTag } from "./generate";
import { jsonWith, readJson } from "./grammar";
import { attribute, hasClass, withClasses, withStyle } from "./html";
import { kindOf, type Part } from "./kind";
import { attrsOf } from "./schema";

/** A colour by the name that the site has for it, or by its value. */
export type Colour = { slug: string } | { value: string };

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

/** The colours of kinds whose text and background may have one. */
export const textColours = (): readonly Part[] => ["text", "background"];

/** Attributes of colours that are not chosen here: gradients, and those of older editors. What has one keeps it. */
const OTHERS = [["gradient"], ["customGradient"], ["style", "color", "gradient"], ["customBackgroundColor"], ["customTextColor"]];

/** The colours that a block can have. */
export function coloursOf(node: Node, classic: boolean): readonly Part[] {
  const json = readJson(attrsOf(node).json ?? null);
  if (isWrittenPlain(node, classic) || json === null || !isCurrent(node) || OTHERS.some((path) => at(json, path) !== undefined)) return [];
  return kindOf(node).colours?.(node) ?? [];
}

/**
 * Whether a block is written as editors of today write it. Older markup has other rules for its looks: what is typed in it is
 * taken, but looks that it did not know are not.
 */
export function isCurrent(node: Node): boolean {
  const own = kindOf(node).isCurrent?.(node);
  if (own !== undefined) return own;
  const { tag, style } = attrsOf(node);
  const [usual] = attribute(usualTag(node.type.create(), false), "class")?.split(" ") ?? [];
  return style !== "old" && (tag === null || tag === undefined || usual === undefined || hasClass(`<p${tag}>`, usual));
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
export function withColour(node: Node, part: Part, colour: Colour | null): Attrs {
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
  const change = (inside: string) => coloured(inside, part, before, colour);
  const { withTag } = kindOf(node);
  const attrs = withTag === undefined ? { ...node.attrs, tag: change(attrsOf(node).tag ?? usualTag(node, false)) } : withTag(node, change);
  return { ...attrs, json: jsonWith(json, changes) };
}
