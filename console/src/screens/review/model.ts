/** Reviews: what a change would make of a record, by the fields of its form. */

import type { Item } from "../../api/adapter";
import { isObject } from "../../api/failure";
import type { Field } from "../../model/fields";
import { read } from "../../model/values";

export interface Review {
  id: number;
  state: "pending" | "published" | "returned" | "withdrawn";
  record: number;
  resource: string;
  title: string;
  user: number;
  client: string;
  note: string;
  changed: string;
  notices: string[];
  difference: Change[] | null;
  seen: string | null;
}

export interface Change {
  member: string;
  present: unknown;
  proposed: unknown;
}

/** A response as a review. */
export function reviewOf(item: Item): Review {
  const text = (name: string): string => (typeof item[name] === "string" ? item[name] : "");
  const number = (name: string): number => (typeof item[name] === "number" ? item[name] : 0);
  const changes = Array.isArray(item["difference"]) ? item["difference"].filter(isObject) : null;
  return {
    id: number("id"),
    state: text("state") as Review["state"],
    record: number("record"),
    resource: text("resource"),
    title: text("title"),
    user: number("user"),
    client: text("client"),
    note: text("note"),
    changed: text("changed"),
    notices: Array.isArray(item["notices"]) ? item["notices"].map(String) : [],
    difference: changes?.map((change) => ({ member: String(change["member"]), present: change["present"], proposed: change["proposed"] })) ?? null,
    seen: typeof item["seen"] === "string" ? item["seen"] : null,
  };
}

export interface Compared {
  field: Field;
  before: unknown;
  after: unknown;
}

/** A row for each field that differs. Values below a field, such as those of `meta`, stand together in its row. */
export function comparedFields(fields: Field[], changes: Change[]): Compared[] {
  const rows = new Map<string, Compared>();
  for (const change of changes) {
    const [outer = "", ...rest] = change.member.split(".");
    const field = fields.find((one) => one.path === outer);
    if (field === undefined) continue;
    if (rest.length === 0) {
      rows.set(outer, { field, before: read(field, change.present), after: read(field, change.proposed) });
      continue;
    }
    const row = rows.get(outer) ?? { field, before: {}, after: {} };
    const inner = rest.join(".");
    rows.set(outer, { field, before: { ...(row.before as object), [inner]: change.present }, after: { ...(row.after as object), [inner]: change.proposed } });
  }
  return [...rows.values()];
}

/** Members that no field of the form shows: they are named, so that nothing is published unseen. */
export function membersWithoutField(fields: Field[], changes: Change[]): Change[] {
  return changes.filter((change) => !fields.some((field) => field.path === change.member.split(".")[0]));
}
