/** Files of the library: their addresses, sizes and texts, as records say them. */

import { argument, idOf, type Adapter, type Item } from "../api/adapter";
import type { Description, Resource } from "../api/description";
import { t } from "../i18n";
import { isObject } from "../model/json-schema";
import { supportsFiles } from "../model/roles";
import { nameOf } from "./records";

export interface LibraryFile {
  id: string;
  name: string;
  mime: string;
  url: string;
  /** A small picture; null where there is none. */
  preview: string | null;
  alt: string;
  width: number | undefined;
  height: number | undefined;
  sizes: Record<string, { url: string; width?: number; height?: number }>;
  caption: string;
}

/** The resource of files, where the caller may see one. */
export function libraryOf(description: Description): Resource | null {
  return description.resources.find((resource) => supportsFiles(resource) && resource.operations["list"] !== undefined) ?? null;
}

/** Sizes by preference, for a small preview. */
const SMALL = ["thumbnail", "medium", "large"];

export function fileOf(resource: Resource, item: Item): LibraryFile {
  const details = isObject(item["media_details"]) ? item["media_details"] : {};
  const sizes = sizesIn(details["sizes"]);
  const url = text(item["source_url"]);
  const mime = text(item["mime_type"]);
  const small = SMALL.map((name) => sizes[name]?.url).find((address) => address !== undefined);
  const caption = isObject(item["caption"]) ? item["caption"] : {};
  return {
    id: String(idOf(resource, item)),
    name: nameOf(resource, item),
    mime,
    url,
    preview: small ?? (mime.startsWith("image/") && url !== "" ? url : null),
    alt: text(item["alt_text"]),
    width: number(details["width"]),
    height: number(details["height"]),
    sizes,
    caption: text(caption["raw"] ?? caption["rendered"]),
  };
}

function sizesIn(value: unknown): LibraryFile["sizes"] {
  const sizes: LibraryFile["sizes"] = {};
  for (const [name, size] of Object.entries(isObject(value) ? value : {})) {
    if (isObject(size) && typeof size["source_url"] === "string") {
      const width = number(size["width"]);
      const height = number(size["height"]);
      sizes[name] = { url: size["source_url"], ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
    }
  }
  return sizes;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Whether a type is wanted: `image` stands for all pictures. */
export function isWanted(mime: string, types: readonly string[]): boolean {
  return types.length === 0 || types.some((type) => mime === type || mime.startsWith(`${type}/`));
}

export async function listFiles(adapter: Adapter, resource: Resource, search: string, page: number, types: readonly string[], signal: AbortSignal): Promise<{ files: LibraryFile[]; more: boolean }> {
  const kind = types.length === 1 ? types[0] : undefined;
  const byType = kind !== undefined && !kind.includes("/") && argument(resource, "list", "media_type");
  const found = await adapter.list(
    resource,
    { per_page: 24, page, search: search === "" ? undefined : search, ...(byType ? { media_type: kind } : {}) },
    { signal },
  );
  const files = found.items.map((item) => fileOf(resource, item));
  return { files: files.filter((file) => isWanted(file.mime, types)), more: found.more };
}

/** Sends a file; refuses what the server would refuse, in words that help. */
export async function uploadFile(
  adapter: Adapter,
  description: Description,
  resource: Resource,
  file: File,
  progress: (part: number) => void,
  signal?: AbortSignal,
): Promise<LibraryFile> {
  const { max_upload, upload_types } = description.site;
  if (max_upload > 0 && file.size > max_upload) {
    throw new Error(t("forms.file_too_large", { name: file.name, size: Math.floor(max_upload / 1_048_576) }));
  }
  if (file.type !== "" && upload_types.length > 0 && !upload_types.includes(file.type)) {
    throw new Error(t("forms.file_type_refused", { name: file.name }));
  }
  const made = await adapter.upload(resource, file, {}, { signal, onProgress: (done, total) => progress(total === 0 ? 1 : done / total) });
  return fileOf(resource, made.item);
}
