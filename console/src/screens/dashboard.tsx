/** The first screen: what waits, what was changed last, how the site is, what can be created. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api, findState, statesOf } from "../api";
import { argument, idOf, type Item } from "../api/adapter";
import { versionOfAll } from "../api/changes";
import type { Resource, State } from "../api/description";
import { language, number, t } from "../i18n";
import { countsOf, everyStateValue, hasStates, requestName, STATE_ARGUMENT, tone, uncounted } from "../model/list-states";
import { assumedArgs } from "../model/list-query";
import { momentOf, relativeText } from "../model/moments";
import { addLabel } from "../model/naming";
import { labelOf, titleField } from "../model/record";
import { recency, waitingStates } from "../model/waiting";
import { href, places } from "../router";
import { findings } from "../shell/insight";
import { hasPlace } from "../shell/navigation";
import { Page } from "../shell/page";
import { Failed, Icon, LinkButton, Skeleton } from "../ui";
import { useLoad } from "../ui/hooks";

/** Resources whose last changes are looked up. */
const MOST_RESOURCES = 8;
const RECENT = 8;

export function DashboardScreen(): JSX.Element {
  const { resources } = api().description;
  const listed = useMemo(() => resources.filter(hasPlace).filter((resource) => resource.operations["list"] !== undefined), [resources]);
  return (
    <Page title={t("shell.dashboard")} actions={<QuickCreate resources={listed} />}>
      <div class="dashboard">
        <div class="stack">
          <Waiting resources={listed} />
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
}

function Waiting({ resources }: { resources: Resource[] }): JSX.Element {
  const loaded = useLoad((signal) => loadWaiting(resources, signal), [resources, versionOfAll()]);
  return (
    <section class="card" aria-labelledby="waiting">
      <h2 id="waiting">{t("dashboard.waiting")}</h2>
      {loaded.data === undefined && loaded.error === null && <Skeleton lines={3} />}
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {loaded.data?.length === 0 && <p class="soft">{t("dashboard.nothing_waits")}</p>}
      <ul class="waiting">
        {loaded.data?.map(({ resource, state, count }) => (
          <li key={`${resource.name}/${state.name}`}>
            <a href={href(places.list(resource.name, `state=${state.name}`))} class="waiting-link">
              <span class="waiting-count">{number(count)}</span>
              <span>
                {resource.label}
                <span class={`badge badge-${tone(state)}`}>{state.label}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function loadWaiting(resources: Resource[], signal: AbortSignal): Promise<Waits[]> {
  const all = await Promise.all(
    resources.map(async (resource): Promise<Waits[]> => {
      const states = statesOf(resource);
      const waiting = waitingStates(states);
      if (waiting.length === 0 || !argument(resource, "list", "_count_by")) return [];
      try {
        const counts = await countStates(resource, states, waiting, signal);
        return waiting.map((state) => ({ resource, state, count: counts.get(state.name) ?? 0 })).filter(({ count }) => count > 0);
      } catch (error) {
        // Who may not count a resource sees the others.
        if (signal.aborted) throw error;
        return [];
      }
    }),
  );
  return all.flat();
}

async function countStates(resource: Resource, states: State[], waiting: State[], signal: AbortSignal): Promise<Map<string, number>> {
  const { adapter, schemas } = api();
  const args = (await schemas.of(resource)).args["list"] ?? {};
  if (!hasStates(resource, args)) return new Map();
  const answer = await adapter.list(resource, { [STATE_ARGUMENT]: everyStateValue(resource, args), _count_by: STATE_ARGUMENT }, { signal });
  const counts = countsOf(answer.items, states);
  const alone = uncounted(states, args).filter((state) => waiting.includes(state) && !counts.has(state.name));
  await Promise.all(
    alone.map(async (state) => {
      const one = await adapter.list(resource, { [STATE_ARGUMENT]: requestName(state), per_page: 1, _fields: resource.key }, { signal });
      counts.set(state.name, one.total ?? one.items.length);
    }),
  );
  return counts;
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
      <ul class="recent">
        {loaded.data?.map(({ resource, item, at }) => (
          <li key={`${resource.name}/${idOf(resource, item)}`} class="recent-item">
            <Icon name={resource.icon} />
            <a href={href(places.item(resource.name, idOf(resource, item)))}>{labelOf(resource, item, (id) => t("lists.untitled", { id }))}</a>
            <StateOf resource={resource} item={item} />
            <time class="soft" dateTime={at.toISOString()}>
              {relativeText(at, new Date(), language.value)}
            </time>
          </li>
        ))}
      </ul>
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
