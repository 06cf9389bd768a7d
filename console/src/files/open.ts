/** Which file is shown beside the list: the address says it, so that "back" closes it and links lead to it. */

import type { Id } from "../api/adapter";

const NAME = "file";

/** The id in the query of an address; null: none. */
export function openedIn(search: string): string | null {
  const id = new URLSearchParams(search).get(NAME);
  return id === null || id === "" ? null : id;
}

/** The query with another file, or with none. */
export function withOpened(search: string, id: Id | null): string {
  const query = new URLSearchParams(search);
  query.delete(NAME);
  if (id !== null) query.set(NAME, String(id));
  return query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
}
