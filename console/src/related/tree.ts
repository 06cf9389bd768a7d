/**
 * Records in a tree with an order: moving them, and which records change by it.
 *
 * Positions are counted over the whole tree, from 1, each record before those below it: so a list that is sorted by
 * position alone has the order that is shown.
 */

export type NodeId = number | string;

export interface TreeNode {
  id: NodeId;
  /** Null: at the top. */
  parent: NodeId | null;
  position: number;
}

export interface TreeRow {
  id: NodeId;
  level: number;
  parent: NodeId | null;
  /** Place among those beside it, from 0, and how many they are. */
  place: number;
  beside: number;
  children: number;
}

export type Step = "up" | "down" | "in" | "out";
export type Where = "before" | "inside" | "after";

/** What is saved of a record. */
export interface Change {
  id: NodeId;
  parent: NodeId | null;
  position: number;
  /** Which of both differs. */
  changed: { parent: boolean; position: boolean };
}

type Children = Map<NodeId | null, NodeId[]>;

const key = (id: NodeId | null): NodeId | null => (id === null ? null : String(id));

/** The records of each parent, in their order. A parent that is absent, or below its own record, counts as none. */
function childrenOf(nodes: readonly TreeNode[]): Children {
  const known = new Map(nodes.map((node) => [key(node.id), node]));
  const children: Children = new Map();
  const sorted = nodes.map((node, index) => ({ node, index })).sort((one, other) => one.node.position - other.node.position || one.index - other.index);
  for (const { node } of sorted) {
    const parent = known.has(key(node.parent)) && !isBelow(known, node.parent, node.id) ? key(node.parent) : null;
    children.set(parent, [...(children.get(parent) ?? []), node.id]);
  }
  return children;
}

function isBelow(known: ReadonlyMap<NodeId | null, TreeNode>, id: NodeId | null, above: NodeId): boolean {
  const seen = new Set<NodeId | null>();
  for (let at = key(id); at !== null && !seen.has(at); at = key(known.get(at)?.parent ?? null)) {
    if (at === key(above)) return true;
    seen.add(at);
  }
  return false;
}

/** The tree from top to bottom, as it is shown. */
export function rowsOf(nodes: readonly TreeNode[]): TreeRow[] {
  const children = childrenOf(nodes);
  const rows: TreeRow[] = [];
  const walk = (parent: NodeId | null, level: number): void => {
    const own = children.get(key(parent)) ?? [];
    own.forEach((id, place) => {
      rows.push({ id, level, parent, place, beside: own.length, children: (children.get(key(id)) ?? []).length });
      walk(id, level + 1);
    });
  };
  walk(null, 0);
  // Records that are above each other in a circle are reached from none: they are shown at the top.
  const shown = new Set(rows.map((row) => key(row.id)));
  for (const node of nodes) {
    if (!shown.has(key(node.id))) rows.push({ id: node.id, level: 0, parent: null, place: 0, beside: 1, children: 0 });
  }
  return rows;
}

/** Counts positions anew along the rows; nodes keep their order in the list. */
function numbered(nodes: readonly TreeNode[], children: Children): TreeNode[] {
  const at = new Map<NodeId | null, { parent: NodeId | null; position: number }>();
  const walk = (parent: NodeId | null): void => {
    for (const id of children.get(key(parent)) ?? []) {
      at.set(key(id), { parent, position: at.size + 1 });
      walk(id);
    }
  };
  walk(null);
  return nodes.map((node) => {
    const found = at.get(key(node.id));
    return found === undefined ? { ...node } : { id: node.id, ...found };
  });
}

/** Puts a record before, after or inside another one; null where that is not possible: a record does not go below itself. */
export function placed(nodes: readonly TreeNode[], id: NodeId, target: NodeId, where: Where): TreeNode[] | null {
  const rows = rowsOf(nodes);
  const row = rows.find((one) => key(one.id) === key(target));
  const own = rows.find((one) => key(one.id) === key(id));
  if (row === undefined || own === undefined || key(id) === key(target)) return null;
  const known = new Map(rows.map((one) => [key(one.id), { id: one.id, parent: one.parent, position: 0 }]));
  if (isBelow(known, target, id)) return null;
  const children = childrenOf(nodes);
  children.set(key(own.parent), (children.get(key(own.parent)) ?? []).filter((one) => key(one) !== key(id)));
  const parent = where === "inside" ? target : row.parent;
  const beside = [...(children.get(key(parent)) ?? [])];
  const place = where === "inside" ? beside.length : beside.findIndex((one) => key(one) === key(target)) + (where === "after" ? 1 : 0);
  beside.splice(place, 0, id);
  children.set(key(parent), beside);
  return numbered(nodes, children);
}

/** One step: past the record above or below among those beside it, into the one above, or out behind its parent. */
export function stepped(nodes: readonly TreeNode[], id: NodeId, step: Step): TreeNode[] | null {
  const rows = rowsOf(nodes);
  const row = rows.find((one) => key(one.id) === key(id));
  if (row === undefined) return null;
  const beside = (place: number): NodeId | undefined => rows.find((one) => key(one.parent) === key(row.parent) && one.place === place)?.id;
  const before = row.place > 0 ? beside(row.place - 1) : undefined;
  const after = beside(row.place + 1);
  switch (step) {
    case "up":
      return before === undefined ? null : placed(nodes, id, before, "before");
    case "down":
      return after === undefined ? null : placed(nodes, id, after, "after");
    case "in":
      return before === undefined ? null : placed(nodes, id, before, "inside");
    case "out":
      return row.parent === null ? null : placed(nodes, id, row.parent, "after");
  }
}

/** The records whose parent or position differs. */
export function changesOf(before: readonly TreeNode[], after: readonly TreeNode[]): Change[] {
  const old = new Map(before.map((node) => [key(node.id), node]));
  return after.flatMap((node) => {
    const was = old.get(key(node.id));
    if (was === undefined) return [];
    const changed = { parent: key(was.parent) !== key(node.parent), position: was.position !== node.position };
    return changed.parent || changed.position ? [{ ...node, changed }] : [];
  });
}
