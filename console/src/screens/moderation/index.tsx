/**
 * What waits for somebody to let it pass: each record with its context, decided with one press or one key, and a way back.
 * It is shown instead of the list where records wait and pass, and are no drafts.
 */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, statesOf } from "../../api";
import { argument, idOf, type Item, type Page as Records } from "../../api/adapter";
import { versionOf } from "../../api/changes";
import type { Resource, State } from "../../api/description";
import type { Query } from "../../api/query";
import { t } from "../../i18n";
import { ALL } from "../../model/list-states";
import { ANSWERS, choiceFor, choicesFor, nextAfter, SUBJECT, type VerdictName, type Verdicts, verdictsOf, written } from "../../model/moderation";
import { href, navigate, place, places } from "../../router";
import { Page } from "../../shell/page";
import { singleKeys, useShortcuts } from "../../shell/shortcuts";
import { Button, Empty, Failed, LinkButton, NavTabs, Pagination, Skeleton } from "../../ui";
import { useLoad, useSettled } from "../../ui/hooks";
import type { ResourceScreenProps } from "../table";
import { decide, STATE, undo } from "./actions";
import { Entry } from "./entry";
import "./moderation.css";

const PER_PAGE = 25;

interface View {
  state: string;
  search: string;
  page: number;
}

function viewOf(search: string, verdicts: Verdicts): View {
  const told = new URLSearchParams(search);
  return { state: told.get("state") ?? verdicts.waiting.name, search: told.get("q") ?? "", page: Math.max(1, Number(told.get("page")) || 1) };
}

export function ModerationScreen({ resource }: ResourceScreenProps): JSX.Element {
  const states = useMemo(() => statesOf(resource), [resource]);
  const verdicts = useMemo(() => verdictsOf(resource, states), [resource, states]);
  if (verdicts === null) return <Empty />;
  return <Queue resource={resource} states={states} verdicts={verdicts} />;
}

interface QueueProps {
  resource: Resource;
  states: State[];
  verdicts: Verdicts;
}

function queryOf(resource: Resource, states: State[], view: View): Query {
  const state = states.find((one) => one.name === view.state);
  const embed = [SUBJECT, ANSWERS].join(",");
  const query: Query = { [STATE]: state === undefined ? ALL : written(state), per_page: PER_PAGE, page: view.page, _embed: embed };
  if (argument(resource, "list", "context")) query["context"] = "edit";
  if (view.search !== "" && argument(resource, "list", "search")) query["search"] = view.search;
  return query;
}

function Queue({ resource, states, verdicts }: QueueProps): JSX.Element {
  const view = viewOf(place.value.search, verdicts);
  const version = versionOf(resource.name);
  const loaded = useLoad<Records>((signal) => api().adapter.list(resource, queryOf(resource, states, view), { signal }), [resource, place.value.search, version]);
  const counts = useCounts(resource, states, version);
  const items = loaded.data?.items ?? [];
  const ids = items.map((item) => String(idOf(resource, item)));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string | null>(null);
  const [answering, setAnswering] = useState<string | null>(null);
  useEffect(() => setSelected(new Set()), [place.value.search]);
  const at = active !== null && ids.includes(active) ? active : (ids[0] ?? null);
  const list = useRef<HTMLOListElement>(null);
  const focus = (id: string | null): void => {
    setActive(id);
    if (id !== null) requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-entry="${CSS.escape(id)}"]`)?.focus());
  };
  const act = async (name: VerdictName, which: readonly string[]): Promise<void> => {
    const chosen = items.filter((item) => which.includes(String(idOf(resource, item))));
    const to = chosen.map((item) => choiceFor(verdicts, String(item[STATE]), name)?.to).find((one) => one !== undefined);
    const fitting = chosen.filter((item) => choiceFor(verdicts, String(item[STATE]), name)?.to === to);
    if (to === undefined || fitting.length === 0) return;
    const from = at ?? "";
    const done = new Set(await decide(resource, states, { name, to, items: fitting }));
    setSelected(new Set([...selected].filter((id) => !done.has(id))));
    // Records of "all" stay where they are.
    if (view.state !== ALL && done.has(from)) focus(nextAfter(ids, done, from));
  };
  useKeys({ at, ids, selected, focus, act, answer: setAnswering, toggle: (id) => setSelected(toggled(selected, id)) });
  const chosen = selected.size > 0 ? [...selected] : [];
  return (
    <Page title={resource.label} actions={<LinkButton href={href(places.list(resource.name, "layout=table"))} icon="table">{t("people.as_list")}</LinkButton>}>
      <Tabs resource={resource} states={states} verdicts={verdicts} view={view} counts={counts} />
      <div class="row">
        <Search value={view.search} label={t("people.search", { name: resource.label })} onSearch={(text) => navigate(pathOf(resource, { ...view, search: text, page: 1 }, verdicts), { replace: true })} />
        <Legend />
      </div>
      {chosen.length > 0 && <Bulk items={items.filter((item) => selected.has(String(idOf(resource, item))))} verdicts={verdicts} onAct={(name) => void act(name, chosen)} onClear={() => setSelected(new Set())} />}
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {loaded.data === undefined && loaded.error === null && <Skeleton lines={8} />}
      {loaded.data !== undefined && items.length === 0 && <Empty title={t(view.state === verdicts.waiting.name && view.search === "" ? "people.all_done" : "ui.no_matches")} icon="check" />}
      <ol ref={list} class="queue" aria-label={resource.label} aria-busy={loaded.loading}>
        {items.map((item) => {
          const id = String(idOf(resource, item));
          return (
            <Entry
              key={id}
              resource={resource}
              states={states}
              item={item}
              id={id}
              choices={choicesFor(verdicts, String(item[STATE]))}
              current={id === at}
              selected={selected.has(id)}
              answering={answering === id}
              onFocus={() => setActive(id)}
              onSelect={() => setSelected(toggled(selected, id))}
              onAct={(name) => void act(name, [id])}
              onAnswer={(on) => {
                setAnswering(on ? id : null);
                if (!on) focus(id);
              }}
            />
          );
        })}
      </ol>
      <Pagination page={view.page} pages={loaded.data?.pages ?? null} more={loaded.data?.more ?? false} onPage={(page) => navigate(pathOf(resource, { ...view, page }, verdicts))} />
    </Page>
  );
}

function toggled(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id)) next.add(id);
  return next;
}

function pathOf(resource: Resource, view: View, verdicts: Verdicts): string {
  const query = new URLSearchParams();
  if (view.state !== verdicts.waiting.name) query.set("state", view.state);
  if (view.search !== "") query.set("q", view.search);
  if (view.page > 1) query.set("page", String(view.page));
  return places.list(resource.name, query.toString());
}

/** How many records are in each state: one small request for each, as not every list can count. */
function useCounts(resource: Resource, states: State[], version: number): ReadonlyMap<string, number> {
  const loaded = useLoad(
    async (signal) => {
      const counts = await Promise.all(
        states.map(async (state) => {
          const page = await api().adapter.list(resource, { [STATE]: written(state), per_page: 1, _fields: resource.key }, { signal });
          return [state.name, page.total ?? page.items.length] as const;
        }),
      );
      return new Map(counts);
    },
    [resource, version],
  );
  return loaded.data ?? new Map();
}

function Tabs({ resource, states, verdicts, view, counts }: QueueProps & { view: View; counts: ReadonlyMap<string, number> }): JSX.Element {
  // What waits comes first.
  const sorted = [verdicts.waiting, ...states.filter((state) => state !== verdicts.waiting)];
  const tab = (name: string, label: string, count: number | undefined): { name: string; label: string; count?: string; href: string } => ({
    name,
    label,
    ...(count === undefined ? {} : { count: String(count) }),
    href: href(pathOf(resource, { ...view, state: name, page: 1 }, verdicts)),
  });
  return <NavTabs label={t("people.states")} current={view.state} tabs={[...sorted.map((state) => tab(state.name, state.label, counts.get(state.name))), tab(ALL, t("people.state_all"), undefined)]} />;
}

function Search({ value, label, onSearch }: { value: string; label: string; onSearch: (text: string) => void }): JSX.Element {
  const [text, setText] = useState(value);
  const settled = useSettled(text.trim(), 250);
  useEffect(() => {
    if (settled !== value) onSearch(settled);
  }, [settled]);
  return (
    <search class="queue-search">
      <input class="input" type="search" aria-label={label} placeholder={label} value={text} onInput={(event) => setText(event.currentTarget.value)} />
    </search>
  );
}

const KEYS: [string, Exclude<VerdictName, "hold"> | "reply" | "undo"][] = [["A", "approve"], ["S", "spam"], ["D", "trash"], ["R", "reply"], ["Z", "undo"]];

function Legend(): JSX.Element | null {
  if (!singleKeys()) return null;
  return (
    <p class="queue-legend soft">
      <span>
        <kbd>J</kbd> <kbd>K</kbd> {t("people.key_move")}
      </span>
      {KEYS.map(([key, name]) => (
        <span key={key}>
          <kbd>{key}</kbd> {t(`people.key_${name}`)}
        </span>
      ))}
      <span>
        <kbd>X</kbd> {t("people.key_select")}
      </span>
    </p>
  );
}

interface Keys {
  at: string | null;
  ids: string[];
  selected: ReadonlySet<string>;
  focus: (id: string | null) => void;
  act: (name: VerdictName, which: readonly string[]) => Promise<void>;
  answer: (id: string | null) => void;
  toggle: (id: string) => void;
}

function useKeys({ at, ids, selected, focus, act, answer, toggle }: Keys): void {
  const which = selected.size > 0 ? [...selected] : at === null ? [] : [at];
  const step = (by: number): void => {
    const here = document.activeElement instanceof HTMLElement ? document.activeElement.closest<HTMLElement>("[data-entry]")?.dataset["entry"] : undefined;
    focus(here === undefined ? at : (ids[Math.min(Math.max(ids.indexOf(here) + by, 0), ids.length - 1)] ?? null));
  };
  useShortcuts([
    { keys: "j", label: t("people.key_next"), run: () => step(1) },
    { keys: "k", label: t("people.key_previous"), run: () => step(-1) },
    { keys: "a", label: t("people.key_approve"), run: () => void act("approve", which) },
    { keys: "s", label: t("people.key_spam"), run: () => void act("spam", which) },
    { keys: "d", label: t("people.key_trash"), run: () => void act("trash", which) },
    { keys: "u", label: t("people.key_restore"), run: () => void act("restore", which) },
    { keys: "r", label: t("people.key_reply"), run: () => answer(at) },
    { keys: "x", label: t("people.key_select"), run: () => at !== null && toggle(at) },
    { keys: "z", label: t("people.key_undo"), run: () => void undo() },
  ]);
}

/** What may be decided about all that is selected. */
function Bulk({ items, verdicts, onAct, onClear }: { items: Item[]; verdicts: Verdicts; onAct: (name: VerdictName) => void; onClear: () => void }): JSX.Element {
  const names = new Set(items.flatMap((item) => choicesFor(verdicts, String(item[STATE])).map((choice) => choice.name)));
  return (
    <div class="bulk" role="region" aria-label={t("people.selection")}>
      <span class="bulk-count" role="status">
        {t("people.selected", { count: items.length })}
      </span>
      {[...names].map((name) => (
        <Button key={name} small onClick={() => onAct(name)}>
          {t(`people.do_${name}`)}
        </Button>
      ))}
      <Button small kind="quiet" onClick={onClear}>
        {t("people.unselect")}
      </Button>
    </div>
  );
}
