/** Records that belong to a record: application passwords and sessions of a user, and the like. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../api";
import { type Id, idOf, type Item, type Params } from "../api/adapter";
import { touched, versionOf } from "../api/changes";
import type { Resource } from "../api/description";
import { Failure } from "../api/failure";
import { t } from "../i18n";
import { Button, confirmed, Failed, Icon, Skeleton, toast } from "../ui";
import { useLoad } from "../ui/hooks";
import { CreateDialog } from "./create";
import { shownOnce } from "./panels";
import { RelatedRows } from "./rows";
import { SecretDialog } from "./secret";

interface BelowProps {
  resource: Resource;
  parameter: string;
  /** The record that they belong to. */
  owner: Id;
}

const MOST = 100;
const REMOVE_ALL = "delete_all";

export function BelowPanel({ resource, parameter, owner }: BelowProps): JSX.Element | null {
  const params: Params = { [parameter]: owner };
  const version = versionOf(resource.name);
  const loaded = useLoad(
    async (signal) => {
      const { adapter, schemas } = api();
      const pages = resource.operations["list"]?.args.includes("per_page") === true ? { per_page: MOST } : {};
      const [page, schema] = await Promise.all([adapter.list(resource, pages, { params, signal }), schemas.of(resource, params)]);
      return { items: page.items, schema: schema.schema };
    },
    [resource, owner, version],
  );
  const items = loaded.data?.items ?? [];
  const removes = resource.operations["delete"] !== undefined;
  // The caller may see the record, and not what belongs to it.
  if (loaded.error instanceof Failure && loaded.error.status === 403) return null;
  return (
    <section class="record-panel" aria-labelledby={`related-${resource.name}`}>
      <header class="record-head">
        <Icon name={resource.icon} />
        <h2 id={`related-${resource.name}`}>{resource.label}</h2>
        <span class="spread" />
        {resource.operations[REMOVE_ALL] !== undefined && items.length > 1 && <RemoveAll resource={resource} params={params} count={items.length} />}
        {resource.operations["create"] !== undefined && <Create resource={resource} params={params} />}
      </header>
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {loaded.data === undefined && loaded.error === null && <Skeleton lines={2} />}
      {loaded.data !== undefined && items.length === 0 && <p class="soft record-none">{t("people.none")}</p>}
      {items.length > 0 && (
        <RelatedRows
          resource={resource}
          items={items}
          schema={loaded.data?.schema ?? {}}
          linked={false}
          {...(removes ? { actions: (item: Item, id: Id, title: string) => <RemoveOne resource={resource} params={params} item={item} id={id} title={title} /> } : {})}
        />
      )}
    </section>
  );
}

function RemoveOne({ resource, params, id, title }: { resource: Resource; params: Params; item: Item; id: Id; title: string }): JSX.Element {
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t("people.revoke_question", { name: title }), text: t("people.revoke_text"), action: t("people.revoke"), danger: true }))) return;
    try {
      await api().adapter.remove(resource, id, { params });
      toast.done(t("people.revoked", { name: title }));
    } catch (error) {
      toast.failed(error);
    }
  };
  return (
    <Button small kind="quiet" aria-label={t("people.revoke_one", { name: title })} onClick={() => void remove()}>
      {t("people.revoke")}
    </Button>
  );
}

function RemoveAll({ resource, params, count }: { resource: Resource; params: Params; count: number }): JSX.Element {
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t("people.revoke_all_question", { name: resource.label }), text: t("people.revoke_text"), action: t("people.revoke_all"), danger: true }))) return;
    try {
      await api().adapter.call(resource, REMOVE_ALL, { params });
      toast.done(t("people.revoked_all", { count }));
    } catch (error) {
      toast.failed(error);
    }
    touched(resource.name);
  };
  return (
    <Button small kind="danger" onClick={() => void remove()}>
      {t("people.revoke_all")}
    </Button>
  );
}

function Create({ resource, params }: { resource: Resource; params: Params }): JSX.Element {
  const [open, setOpen] = useState(false);
  const [secret, setSecret] = useState<[string, string][]>([]);
  const created = async (item: Item): Promise<void> => {
    setOpen(false);
    const once = shownOnce(item, await readLater(resource, params, item));
    setSecret(once);
    if (once.length === 0) toast.done(t("people.created", { name: resource.singular }));
  };
  return (
    <>
      <Button small icon="add" onClick={() => setOpen(true)}>
        {resource.labels["add_new_item"] ?? t("people.new", { name: resource.singular })}
      </Button>
      {open && <CreateDialog resource={resource} params={params} preset={{}} onClose={() => setOpen(false)} onCreated={(item) => void created(item)} />}
      {secret.length > 0 && <SecretDialog title={resource.singular} values={secret} onClose={() => setSecret([])} />}
    </>
  );
}

/** The record as it is read from now on. Where it cannot be read, every text of the answer is shown: better twice than never. */
async function readLater(resource: Resource, params: Params, item: Item): Promise<Item> {
  try {
    return (await api().adapter.one(resource, idOf(resource, item), { params })).item;
  } catch {
    return Object.fromEntries(Object.entries(item).filter(([, value]) => typeof value !== "string"));
  }
}
