/** Records that are below each other, and how they change places. */

import { type Id, idOf, type Item } from "../api/adapter";
import type { Resource } from "../api/description";

export interface Node {
  id: Id;
  item: Item;
  parent: Id;
  level: number;
  children: Node[];
}

const NONE = 0;

/** Trees from a flat list, in the order of the list; records whose parent is not there are at the top. */
export function treeOf(resource: Resource, items: readonly Item[], order: string | null): Node[] {
  const sorted = order === null ? [...items] : [...items].sort((one, other) => Number(one[order] ?? 0) - Number(other[order] ?? 0));
  const nodes = new Map<Id, Node>();
  for (const item of sorted) {
    const id = idOf(resource, item);
    const parent = item["parent"];
    nodes.set(id, { id, item, parent: typeof parent === "number" || typeof parent === "string" ? parent : NONE, level: 0, children: [] });
  }
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.parent);
    // A circle, which no server should send, must not hide records.
    if (parent === undefined || isBelow(parent, node, nodes)) roots.push(node);
    else parent.children.push(node);
  }
  const number = (list: Node[], level: number): void => {
    for (const node of list) {
      node.level = level;
      number(node.children, level + 1);
    }
  };
  number(roots, 0);
  return roots;
}

function isBelow(node: Node, above: Node, nodes: ReadonlyMap<Id, Node>): boolean {
  const seen = new Set<Id>();
  for (let at: Node | undefined = node; at !== undefined && !seen.has(at.id); at = nodes.get(at.parent)) {
    if (at.id === above.id) return true;
    seen.add(at.id);
  }
  return false;
}

export interface Change {
  id: Id;
  values: Item;
}

export type Step = "up" | "down" | "in" | "out";
export type Where = "before" | "inside" | "after";

interface Spot {
  parent: Id;
  /** Among the records beside each other, the moved one left out. */
  index: number;
}

/** Whether all records below a record are there, so that they can be counted; "": at the top. */
export type Complete = (above: string) => boolean;

const always: Complete = () => true;

/** The changes that a step makes; none where there is no room for it. */
export function stepChanges(roots: Node[], id: Id, step: Step, order: string | null, complete = always): Change[] {
  const found = find(roots, id);
  if (found === null) return [];
  const { siblings, index, above } = found;
  const before = siblings[index - 1];
  const spots: Record<Step, Spot | null> = {
    up: index > 0 && order !== null ? { parent: found.node.parent, index: index - 1 } : null,
    down: index < siblings.length - 1 && order !== null ? { parent: found.node.parent, index: index + 1 } : null,
    in: before === undefined ? null : { parent: before.id, index: before.children.length },
    out: above === null ? null : { parent: above.parent, index: (find(roots, above.id)?.index ?? 0) + 1 },
  };
  const spot = spots[step];
  return spot === null ? [] : placed(roots, found.node, spot, order, complete);
}

/** The changes of putting a record before, inside or after another one. */
export function dropChanges(roots: Node[], id: Id, target: Id, where: Where, order: string | null, complete = always): Change[] {
  const node = find(roots, id)?.node;
  const goal = find(roots, target);
  if (node === undefined || goal === null || id === target || find([node], target) !== null) return [];
  if (where === "inside") return placed(roots, node, { parent: target, index: goal.node.children.length }, order, complete);
  const rest = goal.siblings.filter((one) => one !== node);
  const index = rest.indexOf(goal.node) + (where === "after" ? 1 : 0);
  return placed(roots, node, { parent: goal.above === null ? NONE : goal.above.id, index }, order, complete);
}

function placed(roots: Node[], node: Node, spot: Spot, order: string | null, complete: Complete): Change[] {
  // Records that were not read yet have numbers, too.
  if (order !== null && !complete(spot.parent === NONE ? "" : String(spot.parent))) return [];
  const siblings = (spot.parent === NONE ? roots : (find(roots, spot.parent)?.node.children ?? roots)).filter((one) => one !== node);
  siblings.splice(spot.index, 0, node);
  const changes: Change[] = [];
  for (const [index, one] of siblings.entries()) {
    const values: Item = {};
    if (one === node && node.parent !== spot.parent) values["parent"] = spot.parent;
    // Only those whose number changes are written.
    if (order !== null && Number(one.item[order] ?? 0) !== index) values[order] = index;
    if (Object.keys(values).length > 0) changes.push({ id: one.id, values });
  }
  return changes;
}

interface Position {
  node: Node;
  siblings: Node[];
  index: number;
  above: Node | null;
}

export function find(nodes: Node[], id: Id, above: Node | null = null): Position | null {
  for (const [index, node] of nodes.entries()) {
    if (node.id === id) return { node, siblings: nodes, index, above };
    const deeper = find(node.children, id, node);
    if (deeper !== null) return deeper;
  }
  return null;
}
