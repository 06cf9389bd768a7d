/** How many records are in each state. */

import type { Api } from "../api";
import { argument, type Params } from "../api/adapter";
import type { Resource, State } from "../api/description";
import type { Query } from "../api/query";
import type { Args } from "../api/schema";
import { countsOf, everyStateValue, requestName, STATE_ARGUMENT, uncounted } from "./list-states";

/** Whether one request tells how many records have each value of a property. */
export function countsBy(resource: Resource, field: string): boolean {
  return argument(resource, "list", "_count_by") && (resource.fields[field]?.operators?.length ?? 0) > 0;
}

interface Counted {
  resource: Resource;
  /** Arguments of the list. */
  args: Args;
  states: readonly State[];
  /** Those that are counted. */
  wanted: readonly State[];
  /** What narrows the list, without the state. */
  query: Query;
  params?: Params;
  signal: AbortSignal;
}

/** One request for all states where the list counts them, and one for each state that it leaves out. */
export async function countStates({ adapter }: Pick<Api, "adapter">, { resource, args, states, wanted, query, params = {}, signal }: Counted): Promise<Map<string, number>> {
  const together = countsBy(resource, STATE_ARGUMENT);
  const all = { ...query, [STATE_ARGUMENT]: everyStateValue(resource, args), _count_by: STATE_ARGUMENT };
  const counts = together ? countsOf((await adapter.list(resource, all, { params, signal })).items, states) : new Map<string, number>();
  const alone = (together ? uncounted(states, args) : wanted).filter((state) => wanted.includes(state) && !counts.has(state.name));
  await Promise.all(
    alone.map(async (state) => {
      const one = await adapter.list(resource, { ...query, [STATE_ARGUMENT]: requestName(state), per_page: 1, _fields: resource.key }, { params, signal });
      counts.set(state.name, one.total ?? one.items.length);
    }),
  );
  return counts;
}
