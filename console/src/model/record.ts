/** Values of records, whatever resource they are of. */

import { type Id, idOf, type Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { isObject } from "../api/failure";
import { say, words } from "./labels";

/** The value of a property; `a.b` is nested. */
export function valueAt(item: Item, path: string): unknown {
  if (path in item) return item[path];
  return path.split(".").reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), item);
}

/**
 * HTML whose styles and event handlers have other names: they would do nothing where it is parsed, but the browser reports each
 * as a violation of the page's policy.
 */
export function inert(html: string): string {
  const tag = /<[a-z](?:"[^"]*"|'[^']*'|[^'">])*>?/gi;
  const attribute = /([\s/"'])(on[a-z]+|style)(?=\s*=)/gi;
  return html.replace(/<style[\s\S]*?<\/style>/gi, "").replace(tag, (found) => found.replace(attribute, "$1data-$2"));
}

/** The text of HTML: without tags, entities read, white space collapsed. Nothing of it runs or is loaded. */
export function stripHtml(html: string): string {
  if (!/[<&]/.test(html)) return html.replace(/\s+/g, " ").trim();
  const page = new DOMParser().parseFromString(inert(html), "text/html");
  for (const element of page.querySelectorAll("script, style, template")) element.remove();
  return (page.body.textContent ?? "").replace(/\s+/g, " ").trim();
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Names of terms and of people are stored with entities; nothing else of HTML is read in them. */
export function readEntities(text: string): string {
  return text.replace(/&(?:#0*(3[489]|6[02])|(amp|lt|gt|quot|apos));/g, (_, code: string | undefined, name: string | undefined) =>
    name === undefined ? String.fromCharCode(Number(code)) : (ENTITIES[name] ?? ""),
  );
}

/** A value as one line of text; of a text in two forms the stored one. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return readEntities(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map(plainText).filter(Boolean).join(", ");
  if (!isObject(value)) return "";
  if (typeof value["raw"] === "string") return stripHtml(value["raw"]);
  if (typeof value["rendered"] === "string") return stripHtml(value["rendered"]);
  return "";
}

/** Properties that name a record, where its view declares none. */
const NAMES = ["title", "name", "label", "username", "subject", "event", "slug"];

/** The property whose text names records of the resource. */
export function titleField(resource: Resource): string | null {
  const declared = resource.view.default_view.titleField;
  if (declared !== undefined && declared !== "") return declared;
  return NAMES.find((name) => name in resource.fields) ?? null;
}

/** What a record is called; empty for one without a name. */
export function titleOf(resource: Resource, item: Item): string {
  const field = titleField(resource);
  const named = field === null ? "" : plainText(valueAt(item, field));
  if (named !== "") return named;
  const other = NAMES.map((name) => plainText(item[name])).find((text) => text !== "");
  return other ?? "";
}

/** The name of a record, or its number. */
export function labelOf(resource: Resource, item: Item, untitled: (id: Id) => string): string {
  const title = titleOf(resource, item);
  return title === "" ? untitled(idOf(resource, item)) : title;
}

/** Words of a name in declarations: "featured_media" is "Featured media"; of a nested one its last part. */
export function humanName(name: string): string {
  return say(words(name.split(".").pop() ?? name));
}

/** What people call a property: its label, else its own name in words. Forms do the same with the schema (`fieldOf`). */
export function labelOfField(resource: Resource, field: string): string {
  return resource.fields[field]?.label ?? humanName(field);
}
