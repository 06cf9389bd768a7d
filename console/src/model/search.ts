/** Finding records by a text, in one resource or in all. */

import type { Api } from "../api";
import { argument, type Item, type Options } from "../api/adapter";
import type { Resource } from "../api/description";
import type { Query } from "../api/query";
import { everyStateValue, hasStates } from "./list-states";
import { assumedArgs } from "./list-query";
import { titleField } from "./record";

export interface SearchOptions extends Options {
  limit?: number;
}

/** Whether records can be found by a text. */
export function isSearchable(resource: Resource): boolean {
  return resource.key !== null && argument(resource, "list", "search");
}

/** Records that contain a text, the best first; without a text the first of the list. */
export async function searchRecords(api: Api, resource: Resource, text: string, options: SearchOptions = {}): Promise<Item[]> {
  const { limit = 20, ...rest } = options;
  const args = argument(resource, "list", "status") ? (await api.schemas.of(resource, rest.params)).args["list"] : assumedArgs(resource);
  const query: Query = { _fields: [resource.key, titleField(resource), "slug", "status", "parent"].filter((name) => name !== null) };
  if (argument(resource, "list", "per_page")) query["per_page"] = limit;
  if (text !== "" && argument(resource, "list", "search")) query["search"] = text;
  if (text !== "" && args?.["orderby"]?.enum?.includes("relevance") === true) query["orderby"] = "relevance";
  if (args !== undefined && hasStates(resource, args)) query["status"] = everyStateValue(resource, args);
  return (await api.adapter.list(resource, query, rest)).items;
}
