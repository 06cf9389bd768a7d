/** A list as a tree: rows that are folded and moved. */

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { updateEach } from "../../api/batch";
import type { Query } from "../../api/query";
import { t } from "../../i18n";
import type { Row, TreeActions } from "../../layouts";
import { orderField, pageQuery } from "../../model/list-query";
import { type Change, dropChanges, type Node, stepChanges, treeOf } from "../../model/tree";
import type { ListView } from "../../model/view-state";
import { announce, toast } from "../../ui";
import { type Branches, TOP, useBranches } from "./branches";
import type { Found } from "./found";
import { type ListingProps, rowOf } from "./listing";

interface Tree {
  rows: Row[];
  actions: TreeActions;
  note: string | null;
}

export function useTree(props: ListingProps, view: ListView, found: Found): Tree | null {
  const { resource } = props;
  const shown = view.layout === "tree";
  const order = orderField(resource);
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const { loaded, unfold, more, busy } = useBranches({ ...props, view, query: treeQuery(props, view, order) }, shown);
  const branches = loaded.data ?? null;
  const roots = useMemo(() => treeOf(resource, [...(branches?.parts.values() ?? [])].flatMap((part) => part.items), order), [branches, resource, order]);
  if (!shown) return null;
  // The frame of the list shows what comes of loading.
  found.loading = loaded.loading && branches === null;
  found.error = loaded.error;
  found.reload = loaded.reload;

  // Of a large tree, branches are folded at first.
  const isOpen = (id: string): boolean => turned.has(id) === (branches?.large === true);
  const open = (id: string): void => {
    if (!isOpen(id)) setTurned((before) => new Set(before).add(id));
    void unfold(id);
  };
  const rest = (above: string, level: number): Row[] => {
    if (branches?.parts.get(above)?.more !== true) return [];
    return [{ item: {}, id: `more/${above}`, title: t("lists.tree_more"), path: null, fixed: true, level, more: () => more(above), busy: busy(above) }];
  };
  const rowsOf = (nodes: Node[], above: string, level: number): Row[] => [
    ...nodes.flatMap((node) => {
      const id = String(node.id);
      const has = node.children.length > 0 || hidden(branches, id);
      return [{ ...rowOf(props, node.item), level, open: has ? isOpen(id) : null }, ...(isOpen(id) ? rowsOf(node.children, id, level + 1) : [])];
    }),
    ...rest(above, level),
  ];
  const movable = resource.operations["update"]?.args.includes("parent") === true && view.search === "";
  const complete = (above: string): boolean => branches?.large !== true || (branches.parts.has(above) ? branches.parts.get(above)?.more === false : branches.below(above) === 0);
  const write = (changes: Change[], moved: Row): void => {
    const parent = changes.find((change) => change.id === moved.id)?.values["parent"];
    // Somebody who puts a record into a branch wants to see it there.
    if (branches?.large === true && parent !== undefined && parent !== 0) open(String(parent));
    void save(props, changes, moved);
  };
  const actions: TreeActions = {
    toggle: (row) => {
      const id = String(row.id);
      if (branches?.large === true && !isOpen(id)) void unfold(id);
      setTurned((before) => toggled(before, id));
    },
    move: movable ? (row, step) => write(stepChanges(roots, row.id, step, order, complete), row) : null,
    drop: movable ? (row, target, where) => write(dropChanges(roots, row.id, target.id, where, order, complete), row) : null,
  };
  return { rows: rowsOf(roots, TOP, 0), actions, note: noteOf(branches) };
}

/** Whether a record may have records below it that were not read yet. */
function hidden(branches: Branches | null, id: string): boolean {
  if (branches === null || !branches.large || branches.parts.has(id)) return false;
  return branches.below(id) !== 0;
}

function noteOf(branches: Branches | null): string | null {
  if (branches?.large !== true) return null;
  return branches.total === null ? t("lists.tree_large") : t("lists.tree_large_of", { count: branches.total });
}

function treeQuery(props: ListingProps, view: ListView, order: string | null): Query {
  const { resource, schema, states } = props;
  const query = pageQuery(view, { resource, states, args: schema.args["list"] ?? {}, schema: schema.schema });
  const key = order === null ? undefined : resource.fields[order]?.sort;
  return key === undefined ? query : { ...query, orderby: key, order: "asc" };
}

async function save({ resource, params }: ListingProps, changes: Change[], moved: Row): Promise<void> {
  if (changes.length === 0) {
    toast.info(t("lists.not_moved", { name: moved.title }));
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
