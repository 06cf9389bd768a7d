/** Views of a list that somebody has saved: search, filters, order and columns under a name of their own. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, findResource } from "../../api";
import { idOf, type Item } from "../../api/adapter";
import { versionOf } from "../../api/changes";
import type { Resource } from "../../api/description";
import { t } from "../../i18n";
import { type ListView, writeView } from "../../model/view-state";
import { navigate, place } from "../../router";
import { Button, Dialog, Field, Menu, type MenuItem, toast } from "../../ui";
import { useLoad } from "../../ui/hooks";

interface SavedProps {
  resource: Resource;
  view: ListView;
  initial: ListView;
}

const MOST = 100;

/** The resource that keeps them; undefined: the caller may keep none. */
function keeper(): Resource | undefined {
  const { saved_views: name } = api().description.site;
  const found = name === undefined || name === null ? undefined : findResource(name);
  return found?.operations["list"] === undefined || found.operations["create"] === undefined ? undefined : found;
}

async function load(store: Resource, resource: Resource, signal: AbortSignal): Promise<Item[]> {
  const query = { context: "edit", per_page: MOST, where: { resource: { eq: resource.name } } };
  return (await api().adapter.list(store, query, { signal })).items;
}

export function SavedViews(props: SavedProps): JSX.Element | null {
  const store = keeper();
  return store === undefined || props.resource.parent !== null ? null : <Saved {...props} store={store} />;
}

function Saved({ resource, view, initial, store }: SavedProps & { store: Resource }): JSX.Element {
  // They are asked for when somebody opens the menu: the list does not wait for them.
  const [wanted, setWanted] = useState(false);
  const [naming, setNaming] = useState(false);
  const loaded = useLoad(async (signal) => (wanted ? load(store, resource, signal) : []), [store, resource, wanted, versionOf(store.name)]);
  const saved = loaded.data ?? [];
  const query = writeView({ ...view, page: 1 }, initial);
  const here = place.value.path;
  const present = saved.find((item) => item["query"] === query);
  const items: MenuItem[] = [
    ...saved.map((item) => ({
      name: `saved-${idOf(store, item)}`,
      label: String(item["name"] ?? ""),
      checked: item === present,
      onSelect: () => void navigate(`${here}${item["query"] === "" ? "" : `?${String(item["query"])}`}`),
    })),
    { name: "save", label: t("lists.save_view"), icon: "add", separated: saved.length > 0, disabled: present !== undefined, onSelect: () => setNaming(true) },
    ...(present === undefined || store.operations["delete"] === undefined
      ? []
      : [{ name: "forget", label: t("lists.forget_view", { name: String(present["name"] ?? "") }), icon: "trash", danger: true, onSelect: () => void forget(store, present) }]),
  ];
  return (
    <span onPointerEnter={() => setWanted(true)} onFocusCapture={() => setWanted(true)}>
      <Menu label={t("lists.saved_views")} icon="list" kind="normal" placement="bottom-start" items={items}>
        {present === undefined ? t("lists.saved_views") : String(present["name"] ?? "")}
      </Menu>
      {naming && <Naming store={store} resource={resource} query={query} onClose={() => setNaming(false)} />}
    </span>
  );
}

async function forget(store: Resource, item: Item): Promise<void> {
  try {
    await api().adapter.remove(store, idOf(store, item), { query: store.operations["delete"]?.args.includes("force") === true ? { force: true } : {} });
  } catch (error) {
    toast.failed(error);
  }
}

function Naming({ store, resource, query, onClose }: { store: Resource; resource: Resource; query: string; onClose: () => void }): JSX.Element {
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    if (name.trim() === "" || busy) return;
    setBusy(true);
    try {
      await api().adapter.create(store, { resource: resource.name, name: name.trim(), query });
      toast.done(t("lists.view_saved", { name: name.trim() }));
      onClose();
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("lists.save_view")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="primary" busy={busy} disabled={name.trim() === ""} onClick={() => void save()}>
            {t("lists.save")}
          </Button>
        </>
      }
    >
      <Field label={t("lists.view_name")}>
        {(ids) => <input {...ids} class="input" maxLength={100} value={name} onInput={(event) => setName(event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && void save()} />}
      </Field>
    </Dialog>
  );
}
