/** Files of the library: their addresses, sizes and texts, as records say them. */

import { idOf, type Item } from "../api/adapter";
import type { Description, Resource } from "../api/description";
import { isObject } from "../api/failure";

export interface Size {
  url: string;
  width: number | null;
  height: number | null;
}

export interface LibraryFile {
  id: string;
  /** Title of the record, else the name of the file. */
  name: string;
  /** Name of the file itself. */
  filename: string;
  mime: string;
  /** Bytes; null where they are not known. */
  bytes: number | null;
  url: string;
  width: number | null;
  height: number | null;
  sizes: Record<string, Size>;
  alt: string;
  caption: string;
  item: Item;
}

const FILES = "files";
/** Name of the operation that makes a new picture of another one, and the arguments that it needs for that. */
const EDIT = "edit";
const EDIT_ARGS = ["src", "modifiers"];
/** Name of the operation that puts a newer file in the place of one. */
const REPLACE = "replace";

/** Records of the resource are files, and new ones are sent as files. */
export function takesFiles(resource: Resource): boolean {
  return holdsFiles(resource) && resource.operations["create"]?.file === true;
}

export function holdsFiles(resource: Resource): boolean {
  return resource.supports.includes(FILES) && resource.key !== null;
}

/** The library: the first resource of files that the caller may see. */
export function libraryOf(description: Description): Resource | null {
  return description.resources.find((resource) => holdsFiles(resource) && resource.operations["list"] !== undefined) ?? null;
}

/** Pictures of the resource can be cut, turned and mirrored by the server. */
export function editsPictures(resource: Resource): boolean {
  const args = resource.operations[EDIT]?.args ?? [];
  return EDIT_ARGS.every((name) => args.includes(name));
}

/** The file of a record can be replaced by a newer one under its address. */
export function replacesFiles(resource: Resource): boolean {
  return resource.operations[REPLACE]?.file === true;
}

export function fileOf(resource: Resource, item: Item): LibraryFile {
  const details = isObject(item["media_details"]) ? item["media_details"] : {};
  const url = text(item["source_url"]);
  const filename = text(item["filename"]) || nameIn(url);
  return {
    id: String(idOf(resource, item)),
    name: either(item["title"]) || filename,
    filename,
    mime: text(item["mime_type"]),
    bytes: amount(item["filesize"]) ?? amount(details["filesize"]),
    url,
    width: amount(details["width"]),
    height: amount(details["height"]),
    sizes: sizesIn(details["sizes"]),
    alt: text(item["alt_text"]),
    caption: either(item["caption"]),
    item,
  };
}

function sizesIn(value: unknown): Record<string, Size> {
  const sizes: Record<string, Size> = {};
  for (const [name, size] of Object.entries(isObject(value) ? value : {})) {
    if (!isObject(size) || typeof size["source_url"] !== "string") continue;
    sizes[name] = { url: size["source_url"], width: amount(size["width"]), height: amount(size["height"]) };
  }
  return sizes;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text as it is stored; without it as it is shown. */
function either(value: unknown): string {
  return isObject(value) ? text(value["raw"] ?? value["rendered"]) : text(value);
}

function amount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function nameIn(url: string): string {
  const last = url.split(/[?#]/)[0]?.split("/").pop() ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

export type FileKind = "image" | "video" | "audio" | "document";

export function kindOf(mime: string): FileKind {
  const [first] = mime.split("/");
  return first === "image" || first === "video" || first === "audio" ? first : "document";
}

const ICONS: Record<FileKind, string> = { image: "image", video: "video", audio: "music", document: "file" };

export function iconOf(mime: string): string {
  return ICONS[kindOf(mime)];
}

/** Whether a type is among those that are wanted: `image` stands for all pictures; none means any. */
export function isWanted(mime: string, types: readonly string[]): boolean {
  return types.length === 0 || types.some((type) => mime === type || mime.startsWith(`${type.replace(/\/\*?$/, "")}/`));
}

/** The smallest copy that is as wide as it is shown; the file itself where no copy is. Null: there is no picture. */
export function previewOf(file: LibraryFile, width: number): string | null {
  if (kindOf(file.mime) !== "image" && Object.keys(file.sizes).length === 0) return null;
  const copies = Object.values(file.sizes)
    .filter((size) => size.width !== null)
    .sort((one, other) => (one.width ?? 0) - (other.width ?? 0));
  const fits = copies.find((size) => (size.width ?? 0) >= width) ?? (kindOf(file.mime) === "image" ? undefined : copies.at(-1));
  return fits?.url ?? (kindOf(file.mime) === "image" && file.url !== "" ? file.url : null);
}

/** The address under the origin of the console. Files from elsewhere are not loaded: null. */
export function ownAddress(address: string, site: string, origin: string): string | null {
  try {
    const url = new URL(address, origin);
    if (url.origin === origin) return url.pathname + url.search;
    // The site may be known by another name than the console.
    return url.origin === new URL(site).origin ? url.pathname + url.search : null;
  } catch {
    return null;
  }
}
