/**
 * Where a file is used: records that refer to it by a relation of the description, and records whose content names it.
 *
 * Contents are looked up by the list's own search, for the name of the file without what the name of a size adds.
 */

import type { Api } from "../api";
import { argument, type Id, idOf, type Item } from "../api/adapter";
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

/** Records of each list. */
const PAGE = 20;
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

function pathOf(url: string): string {
  try {
    return new URL(url, "http://localhost").pathname;
  } catch {
    return "";
  }
}

export async function usesOf(services: Pick<Api, "adapter" | "description">, resource: Resource, file: LibraryFile, signal: AbortSignal): Promise<Uses> {
  const { description } = services;
  const referring = relationsTo(resource, description)
    .filter(({ resource: other }) => other.name !== resource.name)
    .map(async ({ resource: other, field, select }) => found(await listed(services, other, select(file.id), signal), other, field, () => true));
  const writing = description.resources
    .filter((other) => other.name !== resource.name && other.supports.includes(EDITOR) && argument(other, "list", "search"))
    .map(async (other) => found(await listed(services, other, { search: searchName(file) }, signal), other, null, (item) => names(contentOf(item), file)));
  // A list that cannot be read tells nothing; the others do.
  const answers = (await Promise.allSettled([...referring, ...writing])).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  return { uses: answers.flatMap((answer) => answer.uses), more: answers.some((answer) => answer.more) };
}

interface Found {
  items: Item[];
  more: boolean;
}

async function listed({ adapter }: Pick<Api, "adapter">, resource: Resource, query: Query, signal: AbortSignal): Promise<Found> {
  const context = argument(resource, "list", "context") ? { context: "edit" } : {};
  return adapter.list(resource, { per_page: PAGE, ...context, ...query }, { signal });
}

function found({ items, more }: Found, resource: Resource, field: string | null, counts: (item: Item) => boolean): Uses {
  return { more, uses: items.filter(counts).map((item) => ({ resource, id: idOf(resource, item), item, field })) };
}

function contentOf(item: Item): string {
  const content = item["content"];
  if (typeof content === "string") return content;
  return isObject(content) ? [content["raw"], content["rendered"]].filter((text) => typeof text === "string").join("\n") : "";
}
