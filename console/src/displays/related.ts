/** Records that others refer to: looked up in few requests, however many rows show them. */

import { type Signal, signal } from "@preact/signals";
import { api, findResource } from "../api";
import { type Id, idOf, type Item } from "../api/adapter";
import { versionOf } from "../api/changes";
import type { Resource } from "../api/description";
import { titleField } from "../model/record";

/** Undefined while it is looked up, null when it is not there, or not for the caller. */
type Found = Signal<Item | null | undefined>;

const known = new Map<string, Found>();
const wanted = new Map<string, Set<Id>>();
const versions = new Map<string, number>();
/** Records that are kept; the oldest are forgotten first. */
const MOST = 5000;

/** The record of an id. All that is asked for in one turn of the browser is one request for each resource. */
export function related(resource: string, id: Id): Found {
  const version = versionOf(resource);
  const key = `${resource}/${version}/${id}`;
  versions.set(resource, version);
  let found = known.get(key);
  if (found === undefined) {
    found = signal<Item | null | undefined>(undefined);
    if (known.size >= MOST) known.delete(known.keys().next().value ?? "");
    known.set(key, found);
    if (wanted.size === 0) queueMicrotask(() => setTimeout(look));
    const ids = wanted.get(resource) ?? new Set<Id>();
    ids.add(id);
    wanted.set(resource, ids);
  }
  return found;
}

/** The record of an id that one of these resources has; null where none has it, undefined until it is known. */
export function relatedIn(resources: readonly string[], id: Id): { resource: Resource; item: Item } | null | undefined {
  const all = resources.map((name) => ({ resource: findResource(name), item: related(name, id).value }));
  const found = all.find(({ resource, item }) => resource !== undefined && item !== null && item !== undefined);
  if (found?.resource !== undefined && found.item) return { resource: found.resource, item: found.item };
  return all.some(({ item }) => item === undefined) ? undefined : null;
}

function look(): void {
  const all = [...wanted];
  wanted.clear();
  for (const [name, ids] of all) void load(name, [...ids]);
}

async function load(name: string, ids: Id[]): Promise<void> {
  const resource = findResource(name);
  const version = versions.get(name) ?? 0;
  const items = new Map<string, Item>();
  if (resource !== undefined && resource.operations["list"] !== undefined) {
    const file = resource.supports.includes("files") ? ["mime_type", "media_details.sizes"] : [];
    const named = [resource.key, titleField(resource), resource.view.default_view.mediaField, "slug", ...file];
    const fields = named.filter((one) => one !== null && one !== undefined);
    try {
      for (const item of await api().adapter.many(resource, ids, { query: { _fields: fields } })) {
        items.set(String(idOf(resource, item)), item);
      }
    } catch {
      // Without an answer the rows show the numbers.
    }
  }
  for (const id of ids) {
    const found = known.get(`${name}/${version}/${id}`);
    if (found !== undefined) found.value = items.get(String(id)) ?? null;
  }
}
