/**
 * Where a file is used: records that refer to it by a relation of the description, and records whose content shows it.
 *
 * Contents are looked up by the list's own search, three times whatever they are: for the name of the file without what the
 * name of a size adds, for the class of a picture, and for its id in the attributes of a block. What was found is looked
 * through: a search finds parts of words, too.
 */

import type { Api } from "../api";
import { argument, everyState, type Id, idOf, type Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { isObject } from "../api/failure";
import type { Query } from "../api/query";
import { relationsTo } from "../related/panels";
import type { LibraryFile } from "./file";

export interface Use {
  resource: Resource;
  id: Id;
  item: Item;
  /** The property that refers to the file; null: its content does. */
  field: string | null;
}

export interface Uses {
  uses: Use[];
  /** Lists had more than were read. */
  more: boolean;
}

/** Records of each search. Those for an id find longer numbers, too. */
const PAGE = 50;
const EDITOR = "editor";

/** The name of the file as it stands in addresses, without its extension: sizes add to it. */
export function searchName(file: Pick<LibraryFile, "url" | "filename">): string {
  const name = file.url.split(/[?#]/)[0]?.split("/").pop() ?? file.filename;
  return name.replace(/\.[^.]*$/, "");
}

/** Whether a text names the file or one of its sizes. */
export function names(text: string, file: Pick<LibraryFile, "url" | "sizes">): boolean {
  const paths = [file.url, ...Object.values(file.sizes).map((size) => size.url)].map(pathOf).filter((path) => path !== "");
  return paths.some((path) => text.includes(path));
}

/** The class that a picture has in contents. */
const classOf = (id: Id): string => `wp-image-${id}`;

/** The beginning of a block, with its attributes. */
const ATTRIBUTES = /<!--\s+wp:\S+\s+(\{.*?\})\s+\/?-->/gs;

/** Attributes that name a file: of a picture, of a text beside one, of a gallery as it was once written. */
const NAMING = ["id", "mediaId", "ids"];

/** Whether a text shows the file by its id: with the class of its picture, or in the attributes of a block. */
export function showsById(text: string, id: Id): boolean {
  return new RegExp(`\\b${classOf(id)}(?![\\w-])`).test(text) || [...text.matchAll(ATTRIBUTES)].some(([, attributes]) => namesId(attributes ?? "", id));
}

function namesId(attributes: string, id: Id): boolean {
  let values: unknown;
  try {
    values = JSON.parse(attributes);
  } catch {
    return false;
  }
  // Terms have numbers of their own.
  if (!isObject(values) || values["kind"] === "taxonomy") return false;
  const own = values;
  return NAMING.flatMap((name) => own[name]).some((value) => (typeof value === "number" || typeof value === "string") && String(value) === String(id));
}

function pathOf(url: string): string {
  try {
    return new URL(url, "http://localhost").pathname;
  } catch {
    return "";
  }
}

type Services = Pick<Api, "adapter" | "schemas">;

export async function usesOf(services: Services & Pick<Api, "description">, resource: Resource, file: LibraryFile, signal: AbortSignal): Promise<Uses> {
  const { description } = services;
  const referring = relationsTo(resource, description)
    .filter(({ resource: other }) => other.name !== resource.name)
    .map(async ({ resource: other, field, select }) => found(await listed(services, other, select(file.id), signal), other, field, () => true));
  const writing = description.resources
    .filter((other) => other.name !== resource.name && other.supports.includes(EDITOR) && argument(other, "list", "search"))
    .flatMap((other) => searchesOf(file).map(async (search) => found(await listed(services, other, { search }, signal), other, null, (item) => shows(contentOf(item), file))));
  // A list that cannot be read tells nothing; the others do.
  const answers = (await Promise.allSettled([...referring, ...writing])).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  // What names a file by its id mostly has its address, too.
  const uses = new Map(answers.flatMap((answer) => answer.uses).map((use) => [`${use.resource.name}/${use.id}/${use.field ?? ""}`, use]));
  return { uses: [...uses.values()], more: answers.some((answer) => answer.more) };
}

function searchesOf(file: LibraryFile): string[] {
  return [searchName(file), classOf(file.id), `id":${file.id}`];
}

function shows(text: string, file: LibraryFile): boolean {
  return names(text, file) || showsById(text, file.id);
}

interface Found {
  items: Item[];
  more: boolean;
}

async function listed({ adapter, schemas }: Services, resource: Resource, query: Query, signal: AbortSignal): Promise<Found> {
  const context = argument(resource, "list", "context") ? { context: "edit" } : {};
  const stated = resource.states.length > 0 && argument(resource, "list", "status");
  // Drafts use files, too.
  const states = stated ? { status: everyState(resource, (await schemas.of(resource)).args["list"]?.["status"]) } : {};
  return adapter.list(resource, { per_page: PAGE, ...context, ...states, ...query }, { signal });
}

function found({ items, more }: Found, resource: Resource, field: string | null, counts: (item: Item) => boolean): Uses {
  return { more, uses: items.filter(counts).map((item) => ({ resource, id: idOf(resource, item), item, field })) };
}

function contentOf(item: Item): string {
  const content = item["content"];
  if (typeof content === "string") return content;
  return isObject(content) ? [content["raw"], content["rendered"]].filter((text) => typeof text === "string").join("\n") : "";
}
