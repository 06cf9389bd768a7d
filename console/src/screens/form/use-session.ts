/** Loads what a form needs, and keeps the session of a record that was just created. */

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import type { Params } from "../../api/adapter";
import type { Resource } from "../../api/description";
import { t } from "../../i18n";
import { given } from "../../model/begun";
import { autosaveOf } from "../../model/operations";
import { AUTHOR, DATE, PASSWORD, SLUG, STATE, titleName } from "../../model/roles";
import { UnsavedWork } from "../../model/unsaved";
import { readRecord } from "../../model/values";
import { place } from "../../router";
import { Keeper } from "./keeper";
import { loadForm } from "./load";
import { Session } from "./session";

export interface Opened {
  session: Session;
  keeper: Keeper;
}

/** A record that was created has an address of its own; what is typed meanwhile goes there with it. */
let handedOver: Opened | null = null;

export function handOver(opened: Opened): void {
  handedOver = opened;
}

function taken(resource: Resource, id: string | null): Opened | null {
  const opened = handedOver;
  handedOver = null;
  return opened !== null && id !== null && opened.session.resource.name === resource.name && opened.session.id.peek() === id ? opened : null;
}

type State = { kind: "loading" } | { kind: "failed"; error: unknown } | ({ kind: "open" } & Opened);

export function useSession(resource: Resource, id: string | null, params: Params): { state: State; reload(): void } {
  const [state, setState] = useState<State>(() => {
    const opened = taken(resource, id);
    return opened === null ? { kind: "loading" } : { kind: "open", ...opened };
  });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (state.kind === "open" && attempt === 0) {
      return undefined;
    }
    const abort = new AbortController();
    setState({ kind: "loading" });
    loadForm(api(), resource, id, params, autosaveOf(resource), abort.signal).then(
      async (loaded) => {
        const { http, description } = api();
        const session = new Session(api(), loaded);
        const copied = id === null ? new URLSearchParams(place.peek().search).get("copy") : null;
        if (copied !== null) await fillFrom(session, copied, abort.signal);
        if (id === null) fillWith(session, given(place.peek().search));
        const keeper = new Keeper(session, new UnsavedWork(storage()), description.site.url, http.boot.user);
        setState({ kind: "open", session, keeper });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) {
          setState({ kind: "failed", error });
        }
      },
    );
    return () => abort.abort();
  }, [attempt]);
  return { state, reload: () => setAttempt(attempt + 1) };
}

/** What a copy does not take from its original: what is one record's own, and what decides who sees it. */
const OWN = new Set<string>([STATE, DATE, SLUG, PASSWORD, AUTHOR]);

/** A new record begins with the values of another one. Nothing is written before somebody saves. */
async function fillFrom(session: Session, id: string, signal: AbortSignal): Promise<void> {
  const { item } = await session.api.adapter.one(session.resource, id, { params: session.loaded.params, signal });
  const fields = session.fields.peek();
  const title = titleName(session.resource, Object.fromEntries(fields.map((field) => [field.path, field.schema])));
  for (const [path, value] of Object.entries(readRecord(fields, item))) {
    const field = fields.find((one) => one.path === path);
    if (field === undefined || field.readOnly || field.secret || OWN.has(path) || value === null) continue;
    session.store.set(path, path === title && typeof value === "string" ? t("lists.copy_of", { name: value }) : value);
  }
}

/** A new record begins with values that the address gives. Nothing is written before somebody saves. */
function fillWith(session: Session, values: ReadonlyMap<string, unknown>): void {
  for (const field of session.fields.peek()) {
    const value = values.get(field.path);
    if (value !== undefined && !field.readOnly && !field.secret && !OWN.has(field.path)) session.store.set(field.path, value);
  }
}

/** A browser may refuse the storage altogether. */
function storage(): Storage {
  try {
    return localStorage;
  } catch {
    return sessionStorage;
  }
}
