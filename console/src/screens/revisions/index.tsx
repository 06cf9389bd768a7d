/** Earlier versions of a record: who saved them when, what they changed; each can be brought back. */

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { argument, type Id } from "../../api/adapter";
import { touched } from "../../api/changes";
import type { Resource } from "../../api/description";
import { isObject } from "../../api/failure";
import { nameOf, recordsOf, resourceOf } from "../../controls/records";
import { locale, t } from "../../i18n";
import { parametersOf, revisionsOf } from "../../model/operations";
import { STATE, titleOf } from "../../model/roles";
import { find } from "../../model/states";
import { readRecord } from "../../model/values";
import { navigate, places } from "../../router";
import { Page } from "../../shell/page";
import { Button, confirmed, Empty, Failed, Skeleton, toast } from "../../ui";
import { Comparison } from "../form/comparison";
import { loadForm, type Loaded } from "../form/load";
import { differingRows, presentVersion, restoring, revisionOf, versionBefore, versionTime, type Revision } from "./model";
import "../form/form.css";

/** Revisions in one request. */
const PAGE = 50;

interface Versions {
  loaded: Loaded;
  list: Revision[];
  names: Map<string, string>;
  more: boolean;
}

async function loadVersions(resource: Resource, id: string, count: number, signal: AbortSignal): Promise<Versions> {
  const services = api();
  const name = revisionsOf(resource) ?? "revisions";
  const query = { context: argument(resource, name, "context") ? "edit" : undefined, per_page: argument(resource, name, "per_page") ? Math.min(count, 100) : undefined };
  const [loaded, answer] = await Promise.all([
    loadForm(services, resource, id, {}, null, signal),
    services.adapter.call<unknown>(resource, name, { id, params: parametersOf(resource, name, id), query, signal }),
  ]);
  const items = (Array.isArray(answer.data) ? answer.data : []).filter(isObject);
  const list = items.map((item) => revisionOf(item, loaded.fields));
  const people = resourceOf(services.description, resource.fields["author"]?.relation?.resources[0]);
  const authors = [...new Set(list.map((one) => one.author).filter((author): author is Id => author !== null))];
  const found = people === null ? [] : await recordsOf(services.adapter, people, authors, signal).catch(() => []);
  const names = new Map(found.map((item) => [String(people?.key === null || people === null ? "" : item[people.key]), people === null ? "" : nameOf(people, item)]));
  return { loaded, list, names, more: items.length >= count && count < 100 };
}

export function RevisionsScreen({ resource, id }: { resource: Resource; id: string }): JSX.Element {
  const [state, setState] = useState<Versions | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [count, setCount] = useState(PAGE);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setError(null);
    loadVersions(resource, id, count, abort.signal).then(setState, (reason: unknown) => {
      if (!abort.signal.aborted) {
        setError(reason);
      }
    });
    return () => abort.abort();
  }, [count, attempt]);
  const title = state === null ? "" : titleOf(state.loaded.one?.item ?? {}, "title");
  const crumbs = [
    { label: resource.label, path: places.list(resource.name) },
    { label: title === "" ? resource.singular : title, path: places.item(resource.name, id) },
  ];
  return (
    <Page title={t("forms.revisions")} crumbs={crumbs}>
      {error !== null ? (
        <Failed error={error} onRetry={() => setAttempt(attempt + 1)} />
      ) : state === null ? (
        <Skeleton lines={8} />
      ) : state.list.length === 0 ? (
        <Empty title={t("forms.no_revisions")} icon="clock" />
      ) : (
        <History resource={resource} id={id} versions={state} onMore={() => setCount(100)} />
      )}
    </Page>
  );
}

type Against = "previous" | "present";

function History({ resource, id, versions, onMore }: { resource: Resource; id: string; versions: Versions; onMore(): void }): JSX.Element {
  const { loaded, list, names } = versions;
  const [chosen, setChosen] = useState(list[0]?.id ?? "");
  const [against, setAgainst] = useState<Against>("previous");
  const place = Math.max(0, list.findIndex((one) => one.id === chosen));
  const revision = list[place];
  const present = useMemo(() => readRecord(loaded.fields, loaded.one?.item ?? {}), [loaded]);
  const scope = { description: api().description, states: [] };
  if (revision === undefined) {
    return <Empty title={t("forms.no_revisions")} icon="clock" />;
  }
  const { states, site } = scope.description;
  const label = (one: Revision): string => versionTime(one.date, list, site.timezone, locale.value);
  const current = presentVersion(loaded.fields, list, present);
  const state = find(states, String(loaded.one?.item[STATE] ?? ""))?.label ?? "";
  const told = (one: Revision): string => {
    if (one === current) {
      return [t("forms.present_version"), state].filter((text) => text !== "").join(" · ");
    }
    return one.autosave ? t("forms.autosave") : "";
  };
  const previous = revision.autosave ? present : (versionBefore(list, revision)?.values ?? null);
  const rows = differingRows(loaded.fields, against === "previous" ? previous : present, revision.values);
  const body = restoring(loaded.fields, present, revision);
  return (
    <div class="revisions">
      <nav class="revisions-list" aria-label={t("forms.revisions")}>
        <ol class="revisions-items">
          {list.map((one) => (
            <li key={one.id}>
              <button type="button" class="revision" aria-current={one.id === revision.id ? "true" : undefined} onClick={() => setChosen(one.id)}>
                <time dateTime={one.date}>{label(one)}</time>
                <span class="soft">
                  {one.author === null ? "" : (names.get(String(one.author)) ?? t("forms.unknown_record", { id: String(one.author) }))}
                </span>
                {told(one) !== "" && <span class="revision-told">{told(one)}</span>}
              </button>
            </li>
          ))}
        </ol>
        {versions.more && (
          <Button small onClick={onMore}>
            {t("ui.more")}
          </Button>
        )}
      </nav>
      <div class="revisions-body stack">
        <div class="row">
          <label class="row">
            {t("forms.compare_with")}
            <select class="select select-small" value={against} onChange={(event) => setAgainst(event.currentTarget.value as Against)}>
              <option value="previous">{t("forms.previous_version")}</option>
              <option value="present">{t("forms.present_version")}</option>
            </select>
          </label>
          {resource.operations["update"] !== undefined && (
            <span class="spread">
              <Button kind="primary" icon="restore" disabled={Object.keys(body).length === 0} onClick={() => void restore(resource, id, loaded, body, label(revision))}>
                {t("forms.restore_version")}
              </Button>
            </span>
          )}
        </div>
        {rows.length === 0 ? (
          <p class="notice">{t("forms.no_differences")}</p>
        ) : (
          <Comparison rows={rows} before={t(against === "previous" && !revision.autosave ? "forms.previous_version" : "forms.present_version")} after={label(revision)} scope={scope} />
        )}
      </div>
    </div>
  );
}

/** By an update on top of the version that was compared: somebody else's later change is not lost. */
async function restore(resource: Resource, id: string, loaded: Loaded, body: Record<string, unknown>, when: string): Promise<void> {
  if (!(await confirmed({ title: t("forms.restore_question", { when }), text: t("forms.restore_text"), action: t("forms.restore_version") }))) {
    return;
  }
  try {
    await api().adapter.update(resource, id, body, { ifMatch: loaded.one?.etag ?? null });
    touched(resource.name);
    toast.done(t("forms.restored"));
    navigate(places.item(resource.name, id), { force: true });
  } catch (error) {
    toast.failed(error);
  }
}
