/** What a list has found: the records of a page, how many there are, and how many are in each state. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../api";
import type { Item } from "../../api/adapter";
import { versionOf } from "../../api/changes";
import type { Query } from "../../api/query";
import { isAbort } from "../../api/failure";
import { countsBy, countStates } from "../../model/counts";
import { hasStates, STATE_ARGUMENT, total, ALL } from "../../model/list-states";
import { pageQuery, selection } from "../../model/list-query";
import { pagerOf } from "../../model/pager";
import type { ListView } from "../../model/view-state";
import { useLoad } from "../../ui/hooks";
import type { ListingProps } from "./listing";

export interface Found {
  items: Item[];
  /** Of all pages; null as long as nobody has counted. */
  total: number | null;
  pages: number | null;
  more: boolean;
  /** Records by state, and of all that the first tab shows; null where there are no states, or nobody may count. */
  counts: ReadonlyMap<string, number> | null;
  /** Counts are on their way. */
  counting: boolean;
  loading: boolean;
  error: unknown;
  reload: () => void;
}

export function useFound(props: ListingProps, view: ListView): Found {
  const { resource, params } = props;
  const context = { resource, states: props.states, args: props.schema.args["list"] ?? {}, schema: props.schema.schema };
  const query = pageQuery(view, context);
  const key = JSON.stringify(query);
  const version = versionOf(resource.name);
  const pager = useMemo(() => pagerOf(api().adapter, resource, params), [resource, params]);
  const totalNow = useRef<number | null>(null);
  const tree = view.layout === "tree";
  const page = useLoad(
    (signal) => (tree ? Promise.resolve(null) : pager.page(query, view.page, { params, signal }, totalNow.current)),
    [key, view.page, version, pager, params, tree],
  );
  const chosen = selection(view, context);
  const { counts, counting } = useCounts(props, chosen, version);
  const ofStates = totalOf(counts, view);
  const counted = useTotal(props, chosen, version, counts !== null || counting || tree, page.data ?? null, view.page);
  const all = page.data?.total ?? ofStates ?? counted;
  totalNow.current = all;
  return {
    items: page.data?.items ?? [],
    total: tree ? null : all,
    pages: page.data?.pages ?? (all === null ? null : Math.max(1, Math.ceil(all / view.perPage))),
    more: page.data?.more ?? false,
    counts,
    counting,
    loading: page.loading,
    error: page.error,
    reload: page.reload,
  };
}

/** Records of each state that fit the search and the filters. */
function useCounts(props: ListingProps, chosen: Query, version: number): { counts: ReadonlyMap<string, number> | null; counting: boolean } {
  const { resource, params, states, schema, described } = props;
  const args = schema.args["list"] ?? {};
  const wanted = described && hasStates(resource, args) && countsBy(resource, STATE_ARGUMENT);
  const rest: Query = { ...chosen };
  delete rest[STATE_ARGUMENT];
  const load = async (signal: AbortSignal): Promise<ReadonlyMap<string, number> | null> => {
    if (!wanted) return null;
    const counts = await countStates(api(), { resource, args, states, wanted: states, query: rest, params, signal });
    counts.set(ALL, total(counts, states));
    return counts;
  };
  const found = useLoad(load, [JSON.stringify(rest), wanted, version, params]);
  const countable = resource.states.length > 0 && countsBy(resource, STATE_ARGUMENT);
  return { counts: found.data ?? null, counting: countable && found.error === null && (!described || found.loading) };
}

function totalOf(counts: ReadonlyMap<string, number> | null, view: ListView): number | null {
  return counts === null ? null : (counts.get(view.state) ?? 0);
}

/** Where neither the page nor the states tell how many records there are, they are counted beside. */
function useTotal(
  { resource, params }: ListingProps,
  chosen: Query,
  version: number,
  known: boolean,
  page: { items: Item[]; total: number | null; more: boolean } | null,
  number: number,
): number | null {
  const [told, setTold] = useState<{ key: string; count: number } | null>(null);
  const key = `${version} ${JSON.stringify(chosen)}`;
  const asked = useRef("");
  const whole = page !== null && number === 1 && !page.more ? page.items.length : null;
  const need = !known && page !== null && page.total === null && whole === null;
  useEffect(() => {
    if (!need || asked.current === key) return undefined;
    asked.current = key;
    const abort = new AbortController();
    const query = { ...chosen, per_page: 1, _fields: resource.key };
    api()
      .adapter.list(resource, query, { params, signal: abort.signal })
      .then(
        (one) => one.total !== null && setTold({ key, count: one.total }),
        (error: unknown) => {
          // The list is of use without its total.
          if (isAbort(error)) asked.current = "";
        },
      );
    return () => abort.abort();
  }, [need, key]);
  return whole ?? (told?.key === key ? told.count : null);
}
