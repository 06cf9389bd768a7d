/** A small picture of a file, or an icon of its kind. */

import type { JSX } from "preact";
import { api } from "../api";
import { Icon } from "../ui";
import { fresh } from "./fresh";
import { iconOf, type LibraryFile, ownAddress, previewOf } from "./file";

/** The address of a file that may be loaded; null: it is on another site. */
export function addressOf(url: string | null): string | null {
  const address = url === null || url === "" ? null : ownAddress(url, api().description.site.url, location.origin);
  return address === null ? null : fresh(address);
}

interface ThumbnailProps {
  file: LibraryFile;
  /** How wide it is shown, in pixels. */
  width: number;
  /** Empty where the name of the file is beside it. */
  alt?: string;
}

export function Thumbnail({ file, width, alt = "" }: ThumbnailProps): JSX.Element {
  const address = addressOf(previewOf(file, width * Math.min(2, devicePixelRatio || 1)));
  if (address === null) {
    return (
      <span class="file-icon">
        <Icon name={iconOf(file.mime)} size={Math.min(48, Math.round(width / 2))} />
      </span>
    );
  }
  return <img class="file-picture" src={address} alt={alt} loading="lazy" decoding="async" />;
}
