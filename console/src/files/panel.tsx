/** The file of a record, above its form. */

import type { JSX } from "preact";
import type { Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { navigate, places } from "../router";
import { fileOf } from "./file";
import { Summary } from "./summary";
import { UsedBy } from "./used-by";

export function FilePanel({ resource, item, onReplaced }: { resource: Resource; item: Item; onReplaced: () => void }): JSX.Element {
  const file = fileOf(resource, item);
  return (
    <div class="file-panel card stack">
      <Summary resource={resource} file={file} onMade={(id) => void navigate(places.item(resource.name, id))} onReplaced={onReplaced} />
      <UsedBy resource={resource} file={file} />
    </div>
  );
}
