/** Records that refer to a record; their list is asked for when somebody opens the panel. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../api";
import type { Id } from "../api/adapter";
import { versionOf } from "../api/changes";
import { t } from "../i18n";
import { ARGUMENT } from "../model/list-query";
import { labelOfField } from "../model/record";
import { href, places } from "../router";
import { Failed, Icon, LinkButton, Skeleton } from "../ui";
import { useLoad } from "../ui/hooks";
import type { Panel } from "./panels";
import { RelatedRows } from "./rows";

type Referring = Extract<Panel, { kind: "referring" }>;

const MOST = 10;

export function ReferringPanel({ panel }: { panel: Referring }): JSX.Element {
  const [open, setOpen] = useState(false);
  const { resource, field } = panel;
  return (
    <details class="record-panel" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="record-head">
        <Icon name={resource.icon} />
        <span class="record-title">{resource.label}</span>
        {field !== null && <span class="soft">{t("people.refers", { field: labelOfField(resource, field) })}</span>}
      </summary>
      {open && <Records panel={panel} />}
    </details>
  );
}

function Records({ panel }: { panel: Referring }): JSX.Element {
  const { resource, query } = panel;
  const loaded = useLoad(
    async (signal) => {
      const { adapter, schemas } = api();
      const [page, schema] = await Promise.all([adapter.list(resource, { ...query, per_page: MOST }, { signal }), schemas.of(resource)]);
      return { page, schema: schema.schema };
    },
    [resource, JSON.stringify(query), versionOf(resource.name)],
  );
  if (loaded.error !== null) return <Failed error={loaded.error} onRetry={loaded.reload} />;
  if (loaded.data === undefined) return <Skeleton lines={3} />;
  const { page, schema } = loaded.data;
  if (page.items.length === 0) return <p class="soft record-none">{t("people.none")}</p>;
  const all = listPath(panel);
  return (
    <>
      <RelatedRows resource={resource} items={page.items} schema={schema} linked={resource.operations["get"] !== undefined} />
      {page.more && all !== null && (
        <LinkButton kind="quiet" href={href(all)}>
          {page.total === null ? t("people.show_all") : t("people.show_all_of", { count: page.total })}
        </LinkButton>
      )}
    </>
  );
}

/** The list with a filter that selects the same records; null: the list has no such filter. */
export function listPath({ resource, field, query }: Pick<Referring, "resource" | "field" | "query">): string | null {
  if (field === null) return null;
  const { where } = query;
  if (typeof where === "object" && where !== null && !Array.isArray(where)) {
    const [operator, value] = Object.entries((where as Record<string, Record<string, Id>>)[field] ?? {})[0] ?? [];
    return operator === undefined ? null : places.list(resource.name, `f=${field}~${operator}~${String(value)}`);
  }
  return places.list(resource.name, `f=${ARGUMENT}${field}~is~${String(query[field])}`);
}
