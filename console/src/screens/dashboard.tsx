/** The first screen: what waits, what was changed last, how the site is, what can be created. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api, findState, statesOf } from "../api";
import { argument, idOf, type Item } from "../api/adapter";
import { versionOfAll } from "../api/changes";
import type { Resource, State } from "../api/description";
import { isObject } from "../api/failure";
import { locale, number, t } from "../i18n";
import { countStates } from "../model/counts";
import { everyStateValue, hasStates, moderated, requestName, STATE_ARGUMENT, tone } from "../model/list-states";
import { assumedArgs } from "../model/list-query";
import { momentOf, relativeText } from "../model/moments";
import { addLabel } from "../model/naming";
import { labelOf, stripHtml, titleField } from "../model/record";
import { CONTENT } from "../model/roles";
import { recency, waitingStates } from "../model/waiting";
import { href, places } from "../router";
import { findings } from "../shell/insight";
import { hasPlace } from "../shell/navigation";
import { Page } from "../shell/page";
import { Failed, Icon, LinkButton, Skeleton } from "../ui";
import { useLoad } from "../ui/hooks";
import { Rebuilds } from "./rebuilds";

/** Resources whose last changes are looked up. */
const MOST_RESOURCES = 8;
const RECENT = 8;

export function DashboardScreen(): JSX.Element {
  const { resources, site } = api().description;
  const listed = useMemo(() => resources.filter(hasPlace).filter((resource) => resource.operations["list"] !== undefined), [resources]);
  return (
    <Page title={t("shell.dashboard")} actions={<QuickCreate resources={listed} />}>
      {site.noindex === true && (
        <p class="notice notice-bad">
          <Icon name="alert" /> {t("dashboard.noindex")}
        </p>
      )}
      <div class="dashboard">
        <div class="stack">
          <Rebuilds />
          <Waiting resources={listed} />
          <Own resources={listed} kind="drafts" />
          <Own resources={listed} kind="scheduled" />
          <Health />
        </div>
        <Recent resources={listed} />
      </div>
    </Page>
  );
}

function QuickCreate({ resources }: { resources: Resource[] }): JSX.Element {
  const shown = resources.filter((resource) => resource.operations["create"]?.file === false && resource.supports.includes("editor"));
  return (
    <>
      {shown.slice(0, 3).map((resource, place) => (
        <LinkButton key={resource.name} icon="add" kind={place === 0 ? "primary" : "normal"} href={href(places.create(resource.name))}>
          {addLabel(resource)}
        </LinkButton>
      ))}
    </>
  );
}

interface Waits {
  resource: Resource;
  state: State;
  count: number;
  /** The last of them, where others wrote what somebody decides about. */
  last: Item[];
}

const LAST = 3;

function Waiting({ resources }: { resources: Resource[] }): JSX.Element {
  const loaded = useLoad((signal) => loadWaiting(resources, signal), [resources, versionOfAll()]);
  return (
    <section class="card" aria-labelledby="waiting">
      <h2 id="waiting">{t("dashboard.waiting")}</h2>
      {loaded.data === undefined && loaded.error === null && <Skeleton lines={3} />}
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {loaded.data?.length === 0 && <p class="soft">{t("dashboard.nothing_waits")}</p>}
      <ul class="waiting">
        {loaded.data?.map(({ resource, state, count, last }) => (
          <li key={`${resource.name}/${state.name}`}>
            <a href={href(places.list(resource.name, `state=${state.name}`))} class="waiting-link">
              <span class="waiting-count">{number(count)}</span>
              <span>
                {resource.label}
                <span class={`badge badge-${tone(state)}`}>{state.label}</span>
              </span>
            </a>
            {last.map((item) => (
              <Words key={idOf(resource, item)} resource={resource} item={item} />
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Who wrote what, and when. */
function Words({ resource, item }: { resource: Resource; item: Item }): JSX.Element {
  const by = recency(resource);
  const at = by === null ? null : momentOf(item[by.field], by.field, api().description.site.timezone);
  const content = item[CONTENT];
  const text = stripHtml(String((isObject(content) ? content["rendered"] : content) ?? ""));
  return (
    <a class="waiting-words" href={href(places.item(resource.name, idOf(resource, item)))}>
      <strong>{labelOf(resource, item, (id) => t("lists.untitled", { id }))}</strong>
      {at !== null && (
        <time class="soft" dateTime={at.toISOString()}>
          {relativeText(at, new Date(), locale.value)}
        </time>
      )}
      <span class="waiting-text">{text}</span>
    </a>
  );
}

/** What waits for a decision, the last first. */
async function lastWaiting(resource: Resource, state: State, signal: AbortSignal): Promise<Item[]> {
  const by = recency(resource);
  const fields = [resource.key, titleField(resource), CONTENT, by?.field].filter((name) => name !== null && name !== undefined);
  const order = by === null ? {} : { orderby: by.sort, order: "desc" };
  return (await api().adapter.list(resource, { [STATE_ARGUMENT]: requestName(state), ...order, per_page: LAST, _fields: fields }, { signal })).items;
}

async function loadWaiting(resources: Resource[], signal: AbortSignal): Promise<Waits[]> {
  const all = await Promise.all(
    resources.map(async (resource): Promise<Waits[]> => {
      const states = statesOf(resource);
      const waiting = waitingStates(states);
      if (waiting.length === 0) return [];
      try {
        const args = (await api().schemas.of(resource)).args["list"] ?? {};
        if (!hasStates(resource, args)) return [];
        const counts = await countStates(api(), { resource, args, states, wanted: waiting, query: {}, signal });
        const found = waiting.map((state) => ({ resource, state, count: counts.get(state.name) ?? 0 })).filter(({ count }) => count > 0);
        const texts = moderated(states) && resource.operations["get"] !== undefined;
        return await Promise.all(found.map(async (one) => ({ ...one, last: texts ? await lastWaiting(resource, one.state, signal) : [] })));
      } catch (error) {
        // Who may not count a resource sees the others.
        if (signal.aborted) throw error;
        return [];
      }
    }),
  );
  return all.flat();
}

type OwnKind = "drafts" | "scheduled";
const OWN_ROWS = 5;
const OWN_TEXTS = { drafts: "dashboard.drafts", scheduled: "dashboard.scheduled" } as const;

/** The caller's own drafts, the last one first, and what is scheduled, the next one first. */
function Own({ resources, kind }: { resources: Resource[]; kind: OwnKind }): JSX.Element | null {
  const loaded = useLoad((signal) => loadOwn(resources, kind, signal), [resources, kind, versionOfAll()]);
  if (loaded.data === undefined || loaded.data.length === 0) return null;
  return (
    <section class="card" aria-labelledby={`own-${kind}`}>
      <h2 id={`own-${kind}`}>{t(OWN_TEXTS[kind])}</h2>
      <Times rows={loaded.data} />
    </section>
  );
}

async function loadOwn(resources: Resource[], kind: OwnKind, signal: AbortSignal): Promise<Recently[]> {
  const { adapter, http, description } = api();
  const all = await Promise.all(
    resources.filter((resource) => resource.supports.includes("editor")).slice(0, MOST_RESOURCES).map(async (resource): Promise<Recently[]> => {
      const states = statesOf(resource);
      const later = new Set(states.map((state) => state.schedules_to));
      const state = states.find((one) => (kind === "drafts" ? one.draft : later.has(one.name)));
      const by = kind === "drafts" ? recency(resource) : dated(resource);
      const owned = kind === "drafts" ? { author: http.boot.user } : {};
      if (state === undefined || by === null || (kind === "drafts" && !argument(resource, "list", "author"))) return [];
      const fields = [resource.key, titleField(resource), by.field, "status"].filter((name) => name !== null);
      const query = { ...owned, [STATE_ARGUMENT]: requestName(state), orderby: by.sort, order: kind === "drafts" ? "desc" : "asc", per_page: OWN_ROWS, _fields: fields };
      try {
        const { items } = await adapter.list(resource, query, { signal });
        return items.flatMap((item) => {
          const at = momentOf(item[by.field], by.field, description.site.timezone);
          return at === null ? [] : [{ resource, item, at }];
        });
      } catch (error) {
        // Who may not list such records has none.
        if (signal.aborted) throw error;
        return [];
      }
    }),
  );
  const sign = kind === "drafts" ? -1 : 1;
  return all.flat().sort((one, other) => sign * (one.at.getTime() - other.at.getTime())).slice(0, OWN_ROWS);
}

function dated(resource: Resource): { field: string; sort: string } | null {
  const sort = resource.fields["date"]?.sort;
  return sort === undefined ? null : { field: "date", sort };
}

/** Records with a time each. */
function Times({ rows }: { rows: Recently[] }): JSX.Element {
  return (
    <ul class="recent">
      {rows.map(({ resource, item, at }) => (
        <li key={`${resource.name}/${idOf(resource, item)}`} class="recent-item">
          <Icon name={resource.icon} />
          <a href={href(places.item(resource.name, idOf(resource, item)))}>{labelOf(resource, item, (id) => t("lists.untitled", { id }))}</a>
          <StateOf resource={resource} item={item} />
          <time class="soft" dateTime={at.toISOString()}>
            {relativeText(at, new Date(), locale.value)}
          </time>
        </li>
      ))}
    </ul>
  );
}

interface Recently {
  resource: Resource;
  item: Item;
  at: Date;
}

function Recent({ resources }: { resources: Resource[] }): JSX.Element {
  const loaded = useLoad((signal) => loadRecent(resources, signal), [resources, versionOfAll()]);
  return (
    <section class="card" aria-labelledby="recent">
      <h2 id="recent">{t("dashboard.recent")}</h2>
      {loaded.data === undefined && loaded.error === null && <Skeleton lines={5} />}
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      <Times rows={loaded.data ?? []} />
    </section>
  );
}

function StateOf({ resource, item }: { resource: Resource; item: Item }): JSX.Element | null {
  const state = typeof item["status"] === "string" ? findState(resource, item["status"]) : undefined;
  // Being public is what records are for: only the others are marked.
  if (state === undefined || state.public) return null;
  return <span class={`badge badge-${tone(state)}`}>{state.label}</span>;
}

async function loadRecent(resources: Resource[], signal: AbortSignal): Promise<Recently[]> {
  const zone = api().description.site.timezone;
  const chosen = resources.filter((resource) => resource.supports.length > 0 && recency(resource) !== null).slice(0, MOST_RESOURCES);
  const all = await Promise.all(
    chosen.map(async (resource): Promise<Recently[]> => {
      const by = recency(resource);
      if (by === null) return [];
      try {
        const args = argument(resource, "list", STATE_ARGUMENT) ? ((await api().schemas.of(resource)).args["list"] ?? {}) : assumedArgs(resource);
        const status = hasStates(resource, args) ? { [STATE_ARGUMENT]: everyStateValue(resource, args) } : {};
        const fields = [resource.key, titleField(resource), by.field, "status"].filter((name) => name !== null);
        const query = { ...status, orderby: by.sort, order: "desc", per_page: RECENT, _fields: fields };
        const { items } = await api().adapter.list(resource, query, { signal });
        return items.flatMap((item) => {
          const at = momentOf(item[by.field], by.field, zone);
          return at === null ? [] : [{ resource, item, at }];
        });
      } catch (error) {
        if (signal.aborted) throw error;
        return [];
      }
    }),
  );
  return all
    .flat()
    .sort((one, other) => other.at.getTime() - one.at.getTime())
    .slice(0, RECENT);
}

const LEVELS = { ok: "good", warning: "warn", problem: "bad" } as const;

function Health(): JSX.Element | null {
  const found = findings.value;
  if (found === null) return null;
  const shown = found.filter((finding) => finding.level !== "ok");
  return (
    <section class="card" aria-labelledby="health">
      <h2 id="health">{t("dashboard.health")}</h2>
      {shown.length === 0 && (
        <p class="row">
          <Icon name="check" />
          {t("dashboard.health_ok")}
        </p>
      )}
      <ul class="findings">
        {shown.map((finding) => (
          <li key={`${finding.check} ${finding.message}`} class="finding">
            <span class={`badge badge-${LEVELS[finding.level]}`}>{t(`dashboard.level_${finding.level}`)}</span>
            <div>
              <p>
                <strong>{finding.check}</strong>: {finding.message}
              </p>
              {finding.hint !== null && <p class="soft">{finding.hint}</p>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
