/** What waits for somebody: states that are neither shown to visitors nor the end of the way. */

import type { Resource, State } from "../api/description";
import { moderated } from "./list-states";

/** The states of a resource whose records wait. */
export function waitingStates(states: readonly State[]): State[] {
  if (moderated(states)) return states.filter((state) => !state.public && !state.trash && state.review);
  const scheduled = new Set(states.map((state) => state.schedules_to).filter((name) => name !== null));
  return states.filter((state) => state.draft || state.review || scheduled.has(state.name));
}

/** The property and direction that show what was changed last; null where records have no such time. */
export function recency(resource: Resource): { field: string; sort: string } | null {
  const names = ["modified", "modified_gmt", "updated", "date", "created"];
  for (const field of names) {
    const sort = resource.fields[field]?.sort;
    if (sort !== undefined) return { field, sort };
  }
  return null;
}
