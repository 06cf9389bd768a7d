/** What the content editor is given: pictures and files of the library, addresses of records, and pieces that are shared. */

import type { Api } from "../api";
import { argument, idOf, type Item } from "../api/adapter";
import type { Description, Resource } from "../api/description";
import { Failure, isObject } from "../api/failure";
import type { EditorProps, FileItem, LinkTarget, Picture, ReusablePiece } from "../editor/types";
import { stripHtml, titleOf } from "../model/record";
import { CONTENT } from "../model/roles";
import { fileOf, libraryOf, type LibraryFile, takesFiles } from "./file";
import { pickFiles } from "./picker";
import { refusalText, send } from "./uploads";

export type Abilities = Pick<EditorProps, "picture" | "file" | "link" | "reusable">;

const FOUND = 12;

export function abilitiesOf(services: Pick<Api, "adapter" | "description">): Abilities {
  const library = libraryOf(services.description);
  const pieces = piecesOf(services.description);
  const abilities: Abilities = { link: { search: (text, signal) => searchLinks(services, text, signal) } };
  if (library !== null) {
    abilities.picture = {
      pick: async ({ many }) => (await pickFiles({ resource: library, many, types: ["image"] })).map((item) => pictureOf(fileOf(library, item))),
      ...(takesFiles(library) && argument(library, "create", "url") ? { copy: async (url) => pictureOf(fileOf(library, (await services.adapter.create(library, { url })).item)) } : {}),
      ...(takesFiles(library) ? { upload: async (file, progress, signal) => pictureOf(await sent(services, library, file, progress, signal, ["image"])) } : {}),
    };
    abilities.file = {
      pick: async ({ types }) => {
        const [item] = await pickFiles({ resource: library, types });
        return item === undefined ? null : fileItemOf(fileOf(library, item));
      },
      ...(takesFiles(library) ? { upload: async (file, progress, signal) => fileItemOf(await sent(services, library, file, progress, signal, [])) } : {}),
    };
  }
  if (pieces !== null) {
    abilities.reusable = {
      search: (text, signal) => searchPieces(services, pieces, text, signal),
      load: (id, signal) => loadPiece(services, pieces, id, signal),
    };
  }
  return abilities;
}

async function sent(services: Pick<Api, "adapter">, library: Resource, file: File, progress: (part: number) => void, signal: AbortSignal, types: string[]): Promise<LibraryFile> {
  const refusal = refusalText(file, types);
  if (refusal !== null) throw new Error(refusal);
  return fileOf(library, await send(services, library, file, progress, signal));
}

export function pictureOf(file: LibraryFile): Picture {
  const measured = (of: { width: number | null; height: number | null }): { width?: number; height?: number } => ({
    ...(of.width === null ? {} : { width: of.width }),
    ...(of.height === null ? {} : { height: of.height }),
  });
  const sizes = Object.entries(file.sizes).map(([name, size]) => [name, { url: size.url, ...measured(size) }] as const);
  return { ...idIn(file), url: file.url, alt: file.alt, caption: file.caption, ...measured(file), sizes: Object.fromEntries(sizes) };
}

export function fileItemOf(file: LibraryFile): FileItem {
  return { ...idIn(file), url: file.url, name: file.name, mime: file.mime };
}

function idIn(file: LibraryFile): { id?: number } {
  const id = Number(file.id);
  return Number.isInteger(id) && id > 0 ? { id } : {};
}

// ---------------------------------------------------------------- links

/** The list of everything that can be found: it has results of several resources, told apart by `subtype`. */
export function finder(description: Description): Resource | null {
  return description.resources.find((resource) => resource.key === null && argument(resource, "list", "subtype") && argument(resource, "list", "search")) ?? null;
}

export async function searchLinks({ adapter, description }: Pick<Api, "adapter" | "description">, text: string, signal: AbortSignal): Promise<LinkTarget[]> {
  const everything = finder(description);
  if (everything === null) return [];
  const { items } = await adapter.list(everything, { search: text === "" ? undefined : text, per_page: FOUND }, { signal });
  return items.flatMap((item) => linkOf(item, description));
}

function linkOf(item: Item, description: Description): LinkTarget[] {
  const { url, title } = item;
  if (typeof url !== "string" || url === "") return [];
  const kind = description.resources.find((resource) => resource.api_name === item["subtype"])?.singular;
  const text = isObject(title) ? title["rendered"] : title;
  return [{ url, title: typeof text === "string" && text !== "" ? stripHtml(text) : url, ...(kind === undefined ? {} : { hint: kind }) }];
}

// ---------------------------------------------------------------- shared pieces

/** The resource whose records contents refer to as a whole; what is declared of its content says so. */
export function piecesOf(description: Description): Resource | null {
  return description.resources.find((resource) => resource.fields[CONTENT]?.options?.["reusable"] === true && resource.operations["list"] !== undefined) ?? null;
}

function pieceOf(resource: Resource, item: Item): ReusablePiece[] {
  const id = Number(idOf(resource, item));
  return Number.isInteger(id) && id > 0 ? [{ id, title: titleOf(resource, item) }] : [];
}

async function searchPieces({ adapter }: Pick<Api, "adapter">, resource: Resource, text: string, signal: AbortSignal): Promise<ReusablePiece[]> {
  const { items } = await adapter.list(resource, { search: text === "" ? undefined : text, per_page: FOUND }, { signal });
  return items.flatMap((item) => pieceOf(resource, item));
}

async function loadPiece({ adapter }: Pick<Api, "adapter">, resource: Resource, id: number, signal: AbortSignal): Promise<ReusablePiece | null> {
  try {
    const { item } = await adapter.one(resource, id, { signal });
    return pieceOf(resource, item)[0] ?? null;
  } catch (error) {
    if (error instanceof Failure && (error.notFound || error.forbidden)) return null;
    throw error;
  }
}
