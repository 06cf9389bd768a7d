/**
 * Which records of a page the caller may change. A list shows what somebody may read; asked as editors, it leaves out what
 * they may not change. So one request for each page tells them apart.
 */

import { api } from "../../api";
import { argument, type Id, idOf } from "../../api/adapter";
import { versionOf } from "../../api/changes";
import type { Resource } from "../../api/description";
import { useLoad } from "../../ui/hooks";
import type { ListingProps } from "./listing";

function changes({ operations }: Resource): boolean {
  return operations["update"] !== undefined || operations["delete"] !== undefined;
}

/** Records of one request: of what a larger tree shows, each change is refused or not. */
const MOST = 100;

/** Ids of those that may be changed; null: as long as nothing else is known, all. */
export function useEditable({ resource, params, described }: ListingProps, ids: readonly Id[]): ReadonlySet<string> | null {
  const asked = described && ids.length > 0 && ids.length <= MOST && changes(resource) && argument(resource, "list", "include") && argument(resource, "list", "context");
  const shown = ids.join();
  const loaded = useLoad(
    async (signal) => {
      if (!asked) return null;
      const found = await api().adapter.many(resource, ids, { params, query: { context: "edit", _fields: resource.key }, signal });
      return { shown, editable: new Set(found.map((item) => String(idOf(resource, item)))) };
    },
    [asked, shown, versionOf(resource.name), params],
  );
  // What was known of another page says nothing; without an answer each change is refused or not.
  return loaded.data?.shown === shown ? loaded.data.editable : null;
}
