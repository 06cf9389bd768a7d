/** Rebuilds the site: a button for each receiver that is marked for it, with the state of the last call. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, findResource } from "../api";
import type { Resource } from "../api/description";
import { locale, t } from "../i18n";
import { momentOf, relativeText } from "../model/moments";
import { Button, toast } from "../ui";
import { useLoad } from "../ui/hooks";

interface Rebuild {
  id: number;
  name: string;
  state: "never" | "pending" | "sent" | "failed" | "paused";
  /** Of the answer to the last call; 0: there was none. */
  status: number | null;
  /** When the last call was, in UTC. */
  time: string | null;
  /** When a call that failed is retried, in UTC. */
  due: string | null;
}

/** Between two looks at a call that was not sent yet. */
const PAUSE = 1000;
const TONES = { never: "calm", pending: "calm", sent: "good", failed: "bad", paused: "warn" } as const;

/** They are there for those who may use them. */
export function Rebuilds(): JSX.Element | null {
  const { rebuilds: name } = api().description.site;
  const resource = name === undefined || name === null ? undefined : findResource(name);
  return resource?.operations["list"] === undefined ? null : <Card resource={resource} />;
}

function Card({ resource }: { resource: Resource }): JSX.Element | null {
  const loaded = useLoad((signal) => api().adapter.call<Rebuild[]>(resource, "list", { signal }), [resource]);
  const rows = loaded.data?.data ?? [];
  const pending = rows.some((row) => row.state === "pending");
  useEffect(() => {
    if (!pending) return undefined;
    const timer = setTimeout(loaded.reload, PAUSE);
    return () => clearTimeout(timer);
  }, [loaded.data]);
  // Without an answer there is no card: nobody waits for one.
  if (rows.length === 0) return null;
  return (
    <section class="card" aria-labelledby="rebuild-site">
      <h2 id="rebuild-site">{t("dashboard.rebuild_site")}</h2>
      <ul class="rebuild-list">
        {rows.map((row) => (
          <Row key={row.id} resource={resource} row={row} onPressed={loaded.reload} />
        ))}
      </ul>
    </section>
  );
}

function Row({ resource, row, onPressed }: { resource: Resource; row: Rebuild; onPressed: () => void }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    setBusy(true);
    try {
      await api().adapter.call(resource, "run", { id: row.id });
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
    onPressed();
  };
  return (
    <li class="rebuild">
      <div class="rebuild-state" role="status">
        <strong>{row.name}</strong>
        <span class={`badge badge-${TONES[row.state]}`}>{t(`dashboard.rebuild_${row.state}`)}</span>
        <p class="soft">{outcome(row)}</p>
      </div>
      <Button
        icon="refresh"
        busy={busy || row.state === "pending"}
        disabled={row.state === "paused" || resource.operations["run"] === undefined}
        label={t("dashboard.rebuild_named", { name: row.name })}
        onClick={() => void press()}
      >
        {t("dashboard.rebuild")}
      </Button>
    </li>
  );
}

/** The last call, and what comes next. */
function outcome({ state, status, time, due }: Rebuild): string {
  if (state === "paused") return t("dashboard.rebuild_paused_text");
  const texts: string[] = [];
  const at = relative(time);
  if (at !== null) texts.push(status === 0 ? t("dashboard.rebuild_unanswered", { time: at }) : t("dashboard.rebuild_answered", { time: at, status: status ?? 0 }));
  const next = state === "failed" ? relative(due) : null;
  if (next !== null) texts.push(t("dashboard.rebuild_again", { time: next }));
  return texts.join(" ");
}

function relative(time: string | null): string | null {
  const at = momentOf(time, "time", "UTC");
  return at === null ? null : relativeText(at, new Date(), locale.value);
}
