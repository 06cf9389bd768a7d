/** A list with its tools. */

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { type Id, type Item, type Params, idOf } from "../../api/adapter";
import { touched } from "../../api/changes";
import type { Resource, State } from "../../api/description";
import type { ResourceSchema } from "../../api/schema";
import { t } from "../../i18n";
import { wholeOperations } from "../../model/actions";
import { layouts, type Column, type LayoutProps, type Row } from "../../layouts";
import { FileArea, pathBeside, sendsFiles, UploadButton } from "../../files/area";
import { withOpened } from "../../files/open";
import { addLabel } from "../../model/naming";
import { humanName, labelOf, labelOfField, titleField } from "../../model/record";
import { initialView, type LayoutName, type ListView, readView, writeView } from "../../model/view-state";
import { href, navigate, place, places } from "../../router";
import { Page, type Crumb } from "../../shell/page";
import { preference, prefer } from "../../shell/preferences";
import { presence, usePresence } from "../../shell/presence";
import { useShortcuts } from "../../shell/shortcuts";
import { lazy } from "../../shell/lazy";
import { announce, confirmed, Empty, toast, Failed, LinkButton, Button, Pagination, Skeleton } from "../../ui";
import type { BulkProps } from "./bulk";
import { Cell } from "./cell";
import { Questions, useActions } from "./actions";
import { useEditable } from "./editable";
import type { FiltersProps } from "./filters";
import { StateTabs } from "./tabs";
import { Toolbar } from "./toolbar";
import { useTree } from "./tree";
import { type Found, useFound } from "./found";

/** Comboboxes and dialogs are not part of the first list. */
const FilterBar = lazy<FiltersProps>(async () => (await import("./filter-bar")).FilterBar);
const BulkBar = lazy<BulkProps>(async () => (await import("./bulk")).BulkBar);

export interface ListingProps {
  resource: Resource;
  /** Of the paths: what the list belongs to. */
  params: Params;
  crumbs: Crumb[];
  schema: ResourceSchema;
  /** The schema is there; before, names of arguments alone are known. */
  described: boolean;
  states: State[];
}

export function Listing(props: ListingProps): JSX.Element {
  const { resource, states, schema } = props;
  const habits = preference<object>(`list.${resource.name}`, {});
  const initial = useMemo(() => initialView(resource, habits), [resource, habits]);
  const view = useMemo(() => readView(place.value.search, initial, resource), [place.value.search, initial]);
  const here = place.value.path;
  const show = (change: Partial<ListView>, replace = false): void => {
    // Another selection begins at its first page.
    const next = { ...view, page: 1, ...change };
    const query = writeView(next, initial);
    navigate(`${here}${query === "" ? "" : `?${query}`}`, { replace });
  };
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const found = useFound(props, view);
  const tree = useTree(props, view, found);
  const actions = useActions({ ...props, view });
  // Showing a file beside the list is no other selection.
  useEffect(() => setSelected(new Set()), [withOpened(place.value.search, null)]);
  useListKeys(resource);
  useEffect(() => {
    if (found.total !== null) announce(t("lists.found", { count: found.total }));
  }, [found.total]);

  const own = tree?.rows ?? found.items.map((item) => rowOf(props, item));
  const editable = useEditable(props, own.filter((row) => row.more === undefined).map((row) => row.id));
  const openedBy = useOpenedBy(resource, own);
  const rows = own.map((row): Row => {
    const fixed = editable === null || editable.has(String(row.id)) ? {} : { fixed: true };
    return { ...row, ...fixed, openedBy: openedBy.get(String(row.id)) };
  });
  const layout: LayoutProps = {
    resource,
    label: resource.labels["items_list"] ?? resource.label,
    rows,
    columns: columnsOf(props, view),
    view,
    selected,
    selectable: actions.selectable,
    onSelect: (ids, on) => setSelected((before) => toggled(before, ids, on)),
    onSort: (field) => show({ sort: { field, direction: view.sort?.field === field && view.sort.direction === "asc" ? "desc" : "asc" } }),
    menu: actions.menu,
    quick: actions.quick,
    cell: (row, column) => <Cell row={row} column={column} resource={resource} params={props.params} args={schema.args["update"] ?? {}} />,
    tree: tree?.actions,
  };
  return (
    <Page title={resource.label} crumbs={props.crumbs} actions={<HeadActions {...props} />}>
      <StateTabs {...props} view={view} initial={initial} counts={found.counts} counting={found.counting} here={here} />
      <Toolbar {...props} view={view} initial={initial} show={show} onLook={(next) => keepHabits(resource, next)} />
      {view.filters.length > 0 && <FilterBar {...props} view={view} show={show} />}
      <FileArea resource={resource} params={props.params} ids={rows.map((row) => row.id)}>
        <Body found={found} layout={layout} view={view} resource={resource} states={states} show={show} />
      </FileArea>
      <div class="list-foot">
        {found.total !== null && <span class="soft">{t("lists.total", { count: found.total })}</span>}
        {tree?.note !== undefined && tree.note !== null && <span class="soft">{tree.note}</span>}
        {tree === null && (
          <Pagination page={view.page} pages={found.pages} more={found.more} onPage={(page) => show({ page })} />
        )}
      </div>
      {selected.size > 0 && (
        <BulkBar
          {...props}
          view={view}
          rows={rows.filter((row) => selected.has(String(row.id)))}
          onDone={(left) => setSelected(new Set(left.map(String)))}
        />
      )}
      <Questions actions={actions} />
    </Page>
  );
}

interface BodyProps {
  found: Found;
  layout: LayoutProps;
  view: ListView;
  resource: Resource;
  states: State[];
  show: (change: Partial<ListView>) => void;
}

function Body({ found, layout, view, resource, states, show }: BodyProps): JSX.Element {
  if (found.error !== null && found.items.length === 0) return <Failed error={found.error} onRetry={found.reload} />;
  if (found.loading && layout.rows.length === 0) return <Skeleton lines={8} />;
  if (layout.rows.length === 0) {
    const narrowed = view.search !== "" || view.filters.length > 0;
    if (narrowed) {
      return (
        <Empty title={t("lists.no_matches")} icon="search">
          <Button onClick={() => show({ search: "", filters: [] })}>{t("lists.clear_filters")}</Button>
        </Empty>
      );
    }
    const trashed = states.find((state) => state.name === view.state)?.trash === true;
    const title = (trashed ? resource.labels["not_found_in_trash"] : resource.labels["not_found"]) ?? t("ui.empty");
    return <Empty title={title} icon={resource.icon} />;
  }
  const Layout = layouts[view.layout as LayoutName];
  return (
    <div class="list-body" aria-busy={found.loading}>
      <Layout {...layout} />
    </div>
  );
}

/** Opens the form of a new record; files are chosen instead. Beside it what can be done with the whole list. */
function HeadActions(props: ListingProps): JSX.Element {
  const { resource, crumbs, params, schema } = props;
  const orphan = resource.parent !== null && crumbs.length === 0;
  const owner = crumbs.at(-1)?.path;
  const path = resource.parent === null || owner === undefined ? places.create(resource.name) : `${owner}/in/${resource.name}/new`;
  const creates = resource.operations["create"] !== undefined && !sendsFiles(resource) && !orphan;
  return (
    <>
      {wholeOperations(resource, schema.args).map(({ name, operation }) => (
        <Button key={name} kind={operation.method === "DELETE" ? "danger" : "normal"} onClick={() => void runOnAll(props, name, operation.method === "DELETE")}>
          {humanName(name)}
        </Button>
      ))}
      {sendsFiles(resource) && <UploadButton resource={resource} params={params} />}
      {creates && (
        <LinkButton kind="primary" icon="add" href={href(path)}>
          {addLabel(resource)}
        </LinkButton>
      )}
    </>
  );
}

async function runOnAll({ resource, params }: ListingProps, name: string, deletes: boolean): Promise<void> {
  const action = humanName(name);
  if (deletes && !(await confirmed({ title: `${action}: ${resource.label}?`, text: t("lists.delete_text"), action, danger: true }))) return;
  try {
    await api().adapter.call(resource, name, { params });
    touched(resource.name);
    toast.done(t("lists.ran", { action, name: resource.label }));
  } catch (error) {
    toast.failed(error);
  }
}

function useListKeys(resource: Resource): void {
  const creates = resource.operations["create"] !== undefined && resource.parent === null;
  useShortcuts([
    { keys: "/", label: t("lists.key_search"), run: () => document.querySelector<HTMLElement>(".list-search input")?.focus() },
    { keys: "j", label: t("lists.key_down"), run: () => document.querySelector<HTMLElement>('[data-row][tabindex="0"]')?.focus() },
    { keys: "k", label: t("lists.key_up"), run: () => document.querySelector<HTMLElement>('[data-row][tabindex="0"]')?.focus() },
    { keys: "x", label: t("lists.key_select"), run: () => undefined, listed: true },
    { keys: "Enter", label: t("lists.key_open"), run: () => undefined, listed: true },
    ...(creates ? [{ keys: "n", label: t("lists.key_new"), run: () => void navigate(places.create(resource.name)) }] : []),
  ]);
}

/** Records that belong to another one are opened below it. */
export function rowOf({ resource, crumbs }: Pick<ListingProps, "resource" | "crumbs">, item: Item): Row {
  const id = idOf(resource, item);
  const opens = (resource.operations["get"] ?? resource.operations["update"]) !== undefined;
  const title = labelOf(resource, item, (own) => t("lists.untitled", { id: own }));
  if (!opens) return { item, id, title, path: null };
  if (resource.parent === null) return { item, id, title, path: pathBeside(resource, id) ?? places.item(resource.name, id) };
  const owner = crumbs.at(-1)?.path;
  return { item, id, title, path: owner === undefined ? null : `${owner}/in/${resource.name}/${encodeURIComponent(id)}` };
}

export function columnOf({ resource, schema }: Pick<ListingProps, "resource" | "schema">, field: string): Column {
  const hints = resource.fields[field] ?? {};
  const own = field.split(".").reduce<ResourceSchema["schema"] | undefined>((found, name) => found?.properties?.[name], schema.schema);
  return { field, label: labelOfField(resource, field), hints, schema: own ?? {}, sortable: hints.sort !== undefined };
}

function columnsOf(props: ListingProps, view: ListView): Column[] {
  const shown = new Set([titleField(props.resource), props.resource.view.default_view.mediaField]);
  if (view.layout === "list") shown.add(props.resource.view.default_view.descriptionField);
  return view.fields.filter((field) => !shown.has(field)).map((field) => columnOf(props, field));
}

function toggled(before: ReadonlySet<string>, ids: Id[], on: boolean): ReadonlySet<string> {
  const next = new Set(before);
  for (const id of ids) {
    if (on) next.add(String(id));
    else next.delete(String(id));
  }
  return next;
}

/** Names of others who have records of the list open, by id. */
function useOpenedBy(resource: Resource, rows: readonly Row[]): ReadonlyMap<string, string> {
  usePresence(resource, null, rows.filter((row) => row.more === undefined).map((row) => String(row.id)));
  const { user } = api().http.boot;
  const names = new Map<string, string>();
  for (const other of presence.value.others.filter((one) => one.user !== user)) {
    names.set(other.item, [names.get(other.item), other.name].filter((name) => name !== undefined).join(", "));
  }
  return names;
}

/** Layout, columns and size of pages are as somebody left them. */
function keepHabits(resource: Resource, view: ListView): void {
  prefer(`list.${resource.name}`, { layout: view.layout, perPage: view.perPage, fields: view.fields });
}

