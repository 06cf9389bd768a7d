/** A new record in a dialog, with the form of its resource. What only the answer has is handed on. */

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api";
import type { Adapter, Item, Params } from "../api/adapter";
import type { Resource } from "../api/description";
import { t } from "../i18n";
import type { Field } from "../model/fields";
import type { Group, Place } from "../model/form-layout";
import { titleField } from "../model/record";
import { loadForm } from "../screens/form/load";
import { Summary } from "../screens/form/notices";
import { GroupBox, Places } from "../screens/form/places";
import { scopeOf } from "../screens/form/scope";
import { Session } from "../screens/form/session";
import { Button, Dialog, Failed, Skeleton } from "../ui";
import "../screens/form/form.css";

interface CreateProps {
  resource: Resource;
  params: Params;
  /** Values that the record begins with. */
  preset: Item;
  /** Values that the dialog does not ask for. */
  hidden?: readonly string[];
  onClose: () => void;
  /** The record as the answer to its creation has it. */
  onCreated: (item: Item) => void;
}

/** The same adapter; what a creation answers is told. */
function listening(adapter: Adapter, told: (item: Item) => void): Adapter {
  const create: Adapter["create"] = async (resource, values, options) => {
    const one = await adapter.create(resource, values, options);
    told(one.item);
    return one;
  };
  return Object.create(adapter, { create: { value: create } }) as Adapter;
}

export function CreateDialog({ resource, params, preset, hidden = [], onClose, onCreated }: CreateProps): JSX.Element {
  const [session, setSession] = useState<Session | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [answer] = useState<{ item: Item | null }>({ item: null });
  useEffect(() => {
    const abort = new AbortController();
    const services = api();
    loadForm(services, resource, null, params, null, abort.signal).then(
      (loaded) => {
        const next = new Session({ ...services, adapter: listening(services.adapter, (item) => (answer.item = item)) }, loaded);
        for (const [name, value] of Object.entries(preset)) next.store.set(name, value);
        setSession(next);
      },
      (failure: unknown) => {
        if (!abort.signal.aborted) setError(failure);
      },
    );
    return () => abort.abort();
  }, []);
  const save = async (): Promise<void> => {
    if (session === null) return;
    const outcome = await session.save({ kind: "create", state: null, now: false });
    if (outcome === "created" && answer.item !== null) onCreated(answer.item);
  };
  return (
    <Dialog
      title={resource.labels["add_new_item"] ?? t("people.new", { name: resource.singular })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="primary" busy={session?.progress.value === "saving"} disabled={session === null} onClick={() => void save()}>
            {t("people.create")}
          </Button>
        </>
      }
    >
      {error !== null && <Failed error={error} />}
      {session === null ? error === null && <Skeleton lines={3} /> : <Fields session={session} hidden={hidden} onEnter={() => void save()} />}
    </Dialog>
  );
}

/** Formats of texts that a new record is about, such as the address of a link. */
const ABOUT: ReadonlySet<string> = new Set(["uri", "url", "email"]);

/** What must be told, what names the record and what it is about; the rest can be added later. */
function parted(session: Session, hidden: readonly string[]): { first: Field[]; rest: Field[] } {
  const fields = session.fields.value.filter((field) => !field.readOnly && !hidden.includes(field.path));
  const title = titleField(session.resource);
  const first = fields.filter((field) => field.required || field.path === title || ABOUT.has(field.format ?? ""));
  return first.length === 0 ? { first: fields, rest: [] } : { first, rest: fields.filter((field) => !first.includes(field)) };
}

function Fields({ session, hidden, onEnter }: { session: Session; hidden: readonly string[]; onEnter: () => void }): JSX.Element {
  const scope = useMemo(() => scopeOf(session), [session]);
  const { first, rest } = useMemo(() => parted(session, hidden), [session]);
  const places = (fields: Field[]): Place[] => fields.map((field) => ({ field }));
  const more: Group = { id: "more", label: t("people.more"), help: "", layout: "details", children: places(rest) };
  return (
    <form
      class="stack"
      aria-label={session.resource.singular}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onEnter();
      }}
    >
      <Summary session={session} />
      <Places places={places(first)} store={session.store} scope={scope} />
      {rest.length > 0 && <GroupBox group={more} store={session.store} scope={scope} />}
      <button type="submit" hidden />
    </form>
  );
}
