/** Which files the server takes, asked before they are sent. */

import type { Site } from "../api/description";
import { isWanted } from "./file";

export type Refusal = { reason: "empty" } | { reason: "large"; most: number } | { reason: "type"; type: string };

/** Why a file would be refused; null: it may be sent. `types` narrows what the site takes, such as to pictures. */
export function refusalOf(file: Pick<File, "size" | "type">, site: Pick<Site, "max_upload" | "upload_types">, types: readonly string[] = []): Refusal | null {
  if (file.size === 0) return { reason: "empty" };
  if (site.max_upload > 0 && file.size > site.max_upload) return { reason: "large", most: site.max_upload };
  // A browser that does not know a type leaves it empty: the server looks at the bytes.
  if (file.type === "") return null;
  const type = plainType(file.type);
  const taken = site.upload_types.length === 0 || site.upload_types.includes(type);
  return taken && isWanted(type, types) ? null : { reason: "type", type };
}

/** A type without parameters, by the name that sites declare. */
function plainType(type: string): string {
  const plain = type.split(";")[0]?.trim().toLowerCase() ?? "";
  return SYNONYMS[plain] ?? plain;
}

/** Names that browsers give to types with other names. */
const SYNONYMS: Record<string, string> = {
  "image/jpg": "image/jpeg",
  "audio/mp3": "audio/mpeg",
  "audio/x-wav": "audio/wav",
  "application/x-zip-compressed": "application/zip",
  "application/x-gzip": "application/gzip",
};

/** The value of `accept` for a file chooser. */
export function acceptOf(site: Pick<Site, "upload_types">, types: readonly string[] = []): string | undefined {
  const wanted = site.upload_types.filter((type) => isWanted(type, types));
  return wanted.length === 0 ? undefined : wanted.join(",");
}
