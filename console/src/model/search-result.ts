/** How search engines and social networks show a record, as far as that is known before it is saved, and warnings. */

import { isObject } from "./json-schema";

/** The member `seo` of the record as it is saved. */
export interface SeoDocument {
  title: string;
  description: string;
  index: boolean;
  picture: Picture | null;
}

/** Members of what an editor says that decide which picture is shown. */
export const PICTURES = ["picture", "picture_url"] as const;

export interface Picture {
  url: string;
  width: number | null;
  height: number | null;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const size = (value: unknown): number | null => (typeof value === "number" && value > 0 ? value : null);

export function seoDocumentOf(seo: unknown): SeoDocument {
  const document = isObject(seo) ? seo : {};
  const robots = isObject(document["robots"]) ? document["robots"] : {};
  const graph = isObject(document["open_graph"]) ? document["open_graph"] : {};
  const first: unknown = Array.isArray(graph["images"]) ? graph["images"][0] : undefined;
  const picture = isObject(first) && text(first["url"]) !== "" ? { url: text(first["url"]), width: size(first["width"]), height: size(first["height"]) } : null;
  return { title: text(document["title"]), description: text(document["description"]), index: robots["index"] !== false, picture };
}

/** Facts of the form that templates name. */
export interface Around {
  /** The title as it is typed, and as it is saved. */
  title: string;
  savedTitle: string;
  site: string;
}

export interface Shown {
  title: string;
  description: string;
  socialTitle: string;
  socialDescription: string;
  /** Null: there is none, or it is known once the record is saved. */
  picture: Picture | null;
  /** Another one is shown once the record is saved. */
  pictureLater: boolean;
}

type Values = Record<string, unknown>;

/** The same text with the members that are known here; others are known to the server alone. */
export function filled(template: string, around: Around): string {
  return template.replaceAll("{title}", around.title).replaceAll("{site.title}", around.site).replace(/\s+/g, " ").trim();
}

/** What is shown of the record as it is typed. `chosen`: the picture of the library that it names now, as far as that is known. */
export function shownOf(seo: SeoDocument, saved: Values, now: Values, around: Around, chosen: Picture | null = null): Shown {
  const own = (name: string): string => filled(text(now[name]), around);
  const usual = around.title === around.site || around.title === "" ? around.site : `${around.title} – ${around.site}`;
  // The server's document has the title as it is saved; what an editor said before is no template's.
  const made = text(saved["title"]) === "" && seo.title !== "" ? renamed(seo.title, around) : usual;
  const title = own("title") || made;
  const description = own("description") || (text(saved["description"]) === "" ? seo.description : "");
  const changed = PICTURES.some((name) => (now[name] || "") !== (saved[name] || ""));
  const picture = changed ? chosen : seo.picture;
  return {
    title,
    description,
    socialTitle: own("social_title") || title,
    socialDescription: own("social_description") || description,
    picture,
    pictureLater: changed && picture === null,
  };
}

function renamed(title: string, { savedTitle, title: typed }: Around): string {
  return savedTitle === "" || typed === "" ? title : title.replace(savedTitle, typed);
}

export type SearchWarning = { kind: "no_description" | "hidden" } | { kind: "small"; width: number; height: number } | { kind: "elsewhere"; address: string };

export interface Limits {
  width: number;
  height: number;
}

/** What an editor should look at. `hidden`: search engines leave out a record that everybody may read. */
export function warningsOf(shown: Shown, canonical: unknown, link: unknown, hidden: boolean, limits: Limits): SearchWarning[] {
  const warnings: SearchWarning[] = [];
  if (shown.description === "") warnings.push({ kind: "no_description" });
  const { picture } = shown;
  if (picture !== null && picture.width !== null && picture.height !== null && (picture.width < limits.width || picture.height < limits.height)) {
    warnings.push({ kind: "small", width: picture.width, height: picture.height });
  }
  const address = text(canonical).trim();
  if (address !== "" && bare(address) !== bare(text(link))) warnings.push({ kind: "elsewhere", address });
  if (hidden) warnings.push({ kind: "hidden" });
  return warnings;
}

const bare = (address: string): string => address.replace(/\/+$/, "");

/** Characters as people count them. */
export function lengthOf(shown: string): number {
  return [...shown].length;
}
