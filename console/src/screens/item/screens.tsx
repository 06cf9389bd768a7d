/** The screens of records by their addresses: of a record, of one that belongs to another, and of its versions. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, findResource } from "../../api";
import type { Resource } from "../../api/description";
import { nameOf } from "../../controls/records";
import { sendsFiles } from "../../files/area";
import { navigate, places } from "../../router";
import { Loading } from "../../ui";
import { NotFound, type ResourceScreenProps } from "../table";
import { RevisionsScreen } from "../revisions";
import { ItemScreen } from "./index";

export function ItemOf({ resource, id }: ResourceScreenProps): JSX.Element {
  const uploads = id === null && sendsFiles(resource);
  useEffect(() => {
    // Files are sent from their list.
    if (uploads) {
      navigate(places.list(resource.name), { replace: true });
    }
  }, [uploads]);
  if (uploads) {
    return <Loading />;
  }
  if (id === null && resource.operations["create"] === undefined) {
    return <NotFound />;
  }
  return <ItemScreen resource={resource} id={id} />;
}

export function RevisionsOf({ resource, id }: ResourceScreenProps): JSX.Element {
  return id === null ? <NotFound /> : <RevisionsScreen resource={resource} id={id} />;
}

/** A record of a resource whose records belong to a record of `resource`. */
export function ChildItemOf({ resource, id, params }: ResourceScreenProps): JSX.Element {
  const child = findResource(params["child"] ?? "");
  const owner = useName(resource, id);
  if (child?.parent?.resource !== resource.name || id === null) {
    return <NotFound />;
  }
  const crumbs = [
    { label: resource.label, path: places.list(resource.name) },
    { label: owner, path: places.item(resource.name, id) },
  ];
  return <ItemScreen resource={child} id={params["item"] ?? null} owner={{ params: { [child.parent.parameter]: id }, crumbs, list: places.children(resource.name, id, child.name) }} />;
}

/** The name of the record that others belong to; its resource's until it is known. */
function useName(resource: Resource, id: string | null): string {
  const [name, setName] = useState(resource.singular);
  useEffect(() => {
    const abort = new AbortController();
    api()
      .adapter.one(resource, id, { signal: abort.signal })
      .then(
        ({ item }) => setName(nameOf(resource, item)),
        () => undefined,
      );
    return () => abort.abort();
  }, [resource.name, id]);
  return name;
}
