/** A list as a tree: all records of a hierarchy, up to a number that a browser shows well. */

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import type { Item } from "../../api/adapter";
import { updateEach } from "../../api/batch";
import { versionOf } from "../../api/changes";
import type { Query } from "../../api/query";
import { t } from "../../i18n";
import type { Row, TreeActions } from "../../layouts";
import { orderField, pageQuery } from "../../model/list-query";
import { type Change, dropChanges, stepChanges, treeOf, visible } from "../../model/tree";
import type { ListView } from "../../model/view-state";
import { announce, toast } from "../../ui";
import { useLoad } from "../../ui/hooks";
import type { Found } from "./found";
import { type ListingProps, rowOf } from "./listing";

const PAGE = 100;
/** More records are no tree that somebody could look through; the list and its search are there. */
const MOST_PAGES = 10;

interface Tree {
  rows: Row[];
  actions: TreeActions;
  note: string | null;
}

export function useTree(props: ListingProps, view: ListView, found: Found): Tree | null {
  const { resource, params } = props;
  const shown = view.layout === "tree";
  const order = orderField(resource);
  const query = treeQuery(props, view, order);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const loaded = useLoad(
    (signal) => (shown ? loadAll(props, query, signal) : Promise.resolve(null)),
    [JSON.stringify(query), shown, versionOf(resource.name), params],
  );
  const roots = useMemo(() => treeOf(resource, loaded.data?.items ?? [], order), [loaded.data, resource, order]);
  if (!shown) return null;
  // The frame of the list shows what comes of loading.
  found.loading = loaded.loading && loaded.data === undefined;
  found.error = loaded.error;
  found.reload = loaded.reload;
  const rows = visible(roots, folded).map((node) => ({
    ...rowOf(props, node.item),
    level: node.level,
    open: node.children.length === 0 ? null : !folded.has(String(node.id)),
  }));
  const movable = resource.operations["update"]?.args.includes("parent") === true && view.search === "";
  const write = (changes: Change[], moved: Row): void => void save(props, changes, moved);
  const actions: TreeActions = {
    toggle: (row) => setFolded((before) => toggled(before, String(row.id))),
    move: movable ? (row, step) => write(stepChanges(roots, row.id, step, order), row) : null,
    drop: movable ? (row, target, where) => write(dropChanges(roots, row.id, target.id, where, order), row) : null,
  };
  return { rows, actions, note: loaded.data?.more === true ? t("lists.tree_cut", { count: PAGE * MOST_PAGES }) : null };
}

function treeQuery(props: ListingProps, view: ListView, order: string | null): Query {
  const { resource, schema, states } = props;
  const query = pageQuery({ ...view, perPage: PAGE }, { resource, states, args: schema.args["list"] ?? {}, schema: schema.schema });
  const key = order === null ? undefined : resource.fields[order]?.sort;
  return key === undefined ? query : { ...query, orderby: key, order: "asc" };
}

async function loadAll(props: ListingProps, query: Query, signal: AbortSignal): Promise<{ items: Item[]; more: boolean }> {
  const { adapter } = api();
  const options = { params: props.params, signal };
  const first = await adapter.list(props.resource, query, options);
  const pages = Math.min(first.pages ?? 1, MOST_PAGES);
  const rest = await Promise.all(Array.from({ length: pages - 1 }, (_, place) => adapter.list(props.resource, { ...query, page: place + 2 }, options)));
  return { items: [first, ...rest].flatMap((page) => page.items), more: (first.pages ?? 1) > MOST_PAGES };
}

async function save({ resource, params }: ListingProps, changes: Change[], moved: Row): Promise<void> {
  if (changes.length === 0) {
    announce(t("lists.not_moved", { name: moved.title }));
    return;
  }
  try {
    // The moved record first: if it may not be changed, nothing is.
    const sorted = [...changes].sort((one, other) => Number(other.id === moved.id) - Number(one.id === moved.id));
    const { failed } = await updateEach(api(), resource, sorted, params);
    if (failed[0] !== undefined) throw failed[0].failure;
    announce(t("lists.moved", { name: moved.title }));
  } catch (error) {
    toast.failed(error);
  }
}

function toggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(before);
  if (!next.delete(id)) next.add(id);
  return next;
}
