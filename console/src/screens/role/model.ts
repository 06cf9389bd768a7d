/** Roles as the server sends them, and the table of capabilities that a form switches. */

import { isObject } from "../../model/json-schema";

export interface Role {
  slug: string;
  name: string;
  capabilities: string[];
  origin: "declared" | "changed" | "stored";
  locked: boolean;
  required: boolean;
  editable: boolean;
}

export interface CapabilityTable {
  resources: { name: string; label: string; actions: Record<string, string> }[];
  capabilities: { name: string; givable: boolean; uses: string[] }[];
}

/** Actions on some resources: the rows are resources that need the same for each of them. */
export interface Row {
  labels: string[];
  /** By action; an action that is everybody's or nobody's is not there. */
  actions: Map<string, string>;
}

/** What nobody has. */
const NOBODY = "do_not_allow";

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []);

export function roleOf(item: Record<string, unknown>): Role {
  const text = (key: string): string => (typeof item[key] === "string" ? item[key] : "");
  const origin = text("origin");
  return {
    slug: text("slug"),
    name: text("name"),
    capabilities: texts(item["capabilities"]),
    origin: origin === "changed" || origin === "stored" ? origin : "declared",
    locked: item["locked"] === true,
    required: item["required"] === true,
    editable: item["editable"] === true,
  };
}

/** Rows of the table, those with the same capabilities together, and the actions that some row has. */
export function rowsOf(table: CapabilityTable): { rows: Row[]; actions: string[] } {
  const rows = new Map<string, Row>();
  const actions = new Set<string>();
  for (const resource of table.resources) {
    const needed = Object.entries(isObject(resource.actions) ? resource.actions : {}).filter(([, name]) => name !== "" && name !== NOBODY);
    if (needed.length === 0) continue;
    for (const [action] of needed) actions.add(action);
    const key = JSON.stringify([...needed].sort());
    const row = rows.get(key) ?? { labels: [], actions: new Map(needed) };
    row.labels.push(resource.label);
    rows.set(key, row);
  }
  return { rows: [...rows.values()], actions: [...actions] };
}

/** Capabilities that no action of a row needs. */
export function othersOf(table: CapabilityTable, rows: readonly Row[]): string[] {
  const shown = new Set(rows.flatMap((row) => [...row.actions.values()]));
  return table.capabilities.map((one) => one.name).filter((name) => !shown.has(name));
}

/** The capabilities with one switched, in the order in which the role had them. */
export function switched(held: ReadonlySet<string>, name: string, on: boolean): Set<string> {
  const next = new Set(held);
  if (on) next.add(name);
  else next.delete(name);
  return next;
}
