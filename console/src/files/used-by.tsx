/** Where a file is used; looked up when somebody asks. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../api";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import { labelOf, labelOfField } from "../model/record";
import { href, places } from "../router";
import { Failed, Loading } from "../ui";
import { useLoad } from "../ui/hooks";
import type { LibraryFile } from "./file";
import { type Use, usesOf } from "./usage";

export function UsedBy({ resource, file }: { resource: Resource; file: LibraryFile }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details class="disclosure" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("files.used_by")}</summary>
      {open && <Uses resource={resource} file={file} />}
    </details>
  );
}

function Uses({ resource, file }: { resource: Resource; file: LibraryFile }): JSX.Element {
  const loaded = useLoad((signal) => usesOf(api(), resource, file, signal), [resource, file.id]);
  if (loaded.error !== null) return <Failed error={loaded.error} onRetry={loaded.reload} />;
  if (loaded.data === undefined) return <Loading />;
  const { uses, more } = loaded.data;
  return (
    <div class="stack">
      {uses.length === 0 ? (
        <p class="soft">{t("files.used_nowhere")}</p>
      ) : (
        <ul class="plain-list">
          {uses.map((use) => (
            <UseRow key={`${use.resource.name}/${use.id}/${use.field ?? ""}`} use={use} />
          ))}
        </ul>
      )}
      {more && <p class="soft">{t("files.used_more")}</p>}
    </div>
  );
}

function UseRow({ use }: { use: Use }): JSX.Element {
  const { resource, item, id, field } = use;
  const label = labelOf(resource, item, (own) => `${resource.singular} ${own}`);
  return (
    <li>
      <a href={href(places.item(resource.name, id))}>{label}</a>{" "}
      <span class="soft">{t("files.used_as", { resource: resource.singular, field: field === null ? t("files.in_content") : labelOfField(resource, field) })}</span>
    </li>
  );
}
