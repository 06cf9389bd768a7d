/**
 * The records of a tree: a small hierarchy in one request, a large one branch by branch, as somebody unfolds it. The
 * number of requests grows with what is shown, never with how many records there are.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../../api";
import { idOf, type Item } from "../../api/adapter";
import { versionOf } from "../../api/changes";
import { isAbort } from "../../api/failure";
import type { Query } from "../../api/query";
import { selection } from "../../model/list-query";
import { countsBy } from "../../model/counts";
import { ALL } from "../../model/list-states";
import type { ListView } from "../../model/view-state";
import { toast } from "../../ui";
import { type Loaded, useLoad } from "../../ui/hooks";
import type { ListingProps } from "./listing";

/** Records of a request. */
const PAGE = 100;

/** What begins the tree has no record above it. */
export const TOP = "";
const NONE = 0;

/** The records below one record. */
export interface Part {
  items: Item[];
  /** Pages that were read. */
  pages: number;
  more: boolean;
}

export interface Branches {
  /** Branches are read as they are unfolded; otherwise what was found is one list. */
  large: boolean;
  /** By the id of the record above. */
  parts: ReadonlyMap<string, Part>;
  /** Records below a record; undefined where nobody has counted. */
  below(id: string): number | undefined;
  /** Of all branches, where the server says so. */
  total: number | null;
}

interface Source extends ListingProps {
  view: ListView;
  /** Of a page, without its place. */
  query: Query;
}

export interface Grown {
  loaded: Loaded<Branches | null>;
  /** Reads the first records below a record. */
  unfold(id: string): Promise<void>;
  /** Reads the next records below a record. */
  more(id: string): Promise<void>;
  busy(id: string): boolean;
}

type Counts = Map<string, number>;

export function useBranches(source: Source, shown: boolean): Grown {
  const { resource, params, query } = source;
  const key = JSON.stringify(query);
  // Pages by branch, as far as somebody has read on: what has changed since is read again so far.
  const reach = useRef({ key, pages: new Map<string, number>() });
  if (reach.current.key !== key) reach.current = { key, pages: new Map() };
  const { pages } = reach.current;
  const loaded = useLoad((signal) => (shown ? load(source, pages, signal) : Promise.resolve(null)), [key, shown, versionOf(resource.name), params]);
  const [grown, setGrown] = useState<{ to: Branches; parts: Map<string, Part>; counts: Counts } | null>(null);
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set());
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);

  const base = loaded.data ?? null;
  const own = grown !== null && grown.to === base ? grown : null;
  const branches: Branches | null = base === null || own === null ? base : { ...base, parts: new Map([...base.parts, ...own.parts]), below: (id) => own.counts.get(id) ?? base.below(id) };
  const read = async (id: string): Promise<void> => {
    if (branches === null || waiting.has(id)) return;
    const before = branches.parts.get(id);
    const next = (before?.pages ?? 0) + 1;
    pages.set(id, next);
    setWaiting((all) => new Set(all).add(id));
    try {
      const page = await pageOf(source, branches.large ? id : null, next, abort.current.signal);
      const counts = branches.large ? await counted(source, page.items, abort.current.signal) : new Map();
      const part: Part = { items: [...(before?.items ?? []), ...page.items], pages: next, more: page.more };
      setGrown((last) => {
        const kept = last !== null && last.to === base ? last : { parts: new Map<string, Part>(), counts: new Map<string, number>() };
        return base === null ? null : { to: base, parts: new Map([...kept.parts, [id, part]]), counts: new Map([...kept.counts, ...counts]) };
      });
    } catch (error) {
      pages.set(id, next - 1);
      if (!isAbort(error)) toast.failed(error);
    }
    setWaiting((all) => new Set([...all].filter((one) => one !== id)));
  };
  return {
    loaded: { ...loaded, data: branches },
    unfold: (id) => (branches?.parts.has(id) === true ? Promise.resolve() : read(id)),
    more: read,
    busy: (id) => waiting.has(id),
  };
}

/** Whether the list has everything: what is searched or filtered has no branches of its own. */
function isUnfiltered({ view }: Source): boolean {
  return view.search === "" && view.filters.length === 0 && view.state === ALL;
}

async function load(source: Source, pages: ReadonlyMap<string, number>, signal: AbortSignal): Promise<Branches> {
  const first = await partOf(source, null, pages.get(TOP) ?? 1, signal);
  const { more, total } = first;
  if (!more || !isUnfiltered(source)) return { large: false, parts: new Map([[TOP, first]]), below: () => undefined, total };
  const open = new Set([TOP, ...pages.keys()]);
  const parts = new Map(await Promise.all([...open].map(async (id) => [id, await partOf(source, id, pages.get(id) ?? 1, signal)] as const)));
  const counts = await counted(source, [...parts.values()].flatMap((part) => part.items), signal);
  return { large: true, parts, below: (id) => counts.get(id), total };
}

async function partOf(source: Source, above: string | null, count: number, signal: AbortSignal): Promise<Part & { total: number | null }> {
  const all = await Promise.all(Array.from({ length: Math.max(1, count) }, (_, place) => pageOf(source, above, place + 1, signal)));
  return { items: all.flatMap((page) => page.items), pages: all.length, more: all.at(-1)?.more === true, total: all[0]?.total ?? null };
}

/** Null: of all records, whatever is above them. */
async function pageOf({ resource, params, query }: Source, above: string | null, page: number, signal: AbortSignal): Promise<{ items: Item[]; more: boolean; total: number | null }> {
  const branch: Query = above === null ? {} : { parent: above === TOP ? NONE : above };
  return api().adapter.list(resource, { ...query, ...branch, per_page: PAGE, page: page > 1 ? page : undefined }, { params, signal });
}

/** How many records are below each of some; those of which nothing is known are absent. */
async function counted(source: Source, items: readonly Item[], signal: AbortSignal): Promise<Counts> {
  const { resource, states, schema, view, params } = source;
  const args = schema.args["list"] ?? {};
  const counts: Counts = new Map();
  if (resource.fields["parent"]?.operators?.includes("in") !== true || !countsBy(resource, "parent")) return counts;
  const ids = items.map((item) => idOf(resource, item));
  const parts = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, place) => ids.slice(place * PAGE, (place + 1) * PAGE));
  const chosen = selection(view, { resource, states, args });
  const answers = await Promise.all(parts.map((part) => api().adapter.list(resource, { ...chosen, where: { parent: { in: part } }, _count_by: "parent" }, { params, signal })));
  for (const id of ids) counts.set(String(id), 0);
  for (const row of answers.flatMap((answer) => answer.items)) counts.set(String(row["value"]), Number(row["count"] ?? 0));
  return counts;
}
