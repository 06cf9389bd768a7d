/** The list of a resource: what the address says is what is shown. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api, findResource, statesOf } from "../../api";
import type { Params } from "../../api/adapter";
import type { Resource } from "../../api/description";
import type { ResourceSchema } from "../../api/schema";
import { t } from "../../i18n";
import { assumedArgs } from "../../model/list-query";
import { labelOf } from "../../model/record";
import { places } from "../../router";
import { Page, type Crumb } from "../../shell/page";
import { related } from "../../displays/related";
import { Empty } from "../../ui";
import { useLoad } from "../../ui/hooks";
import type { ResourceScreenProps } from "../table";
import { Listing } from "./listing";

export function ListScreen({ resource, params }: ResourceScreenProps): JSX.Element {
  const child = params["child"];
  const shown = child === undefined ? resource : findResource(child);
  const parent = shown?.parent ?? null;
  const owner = params["id"];
  const pathParams = useMemo<Params>(() => (parent === null || owner === undefined ? {} : { [parent.parameter]: owner }), [parent, owner]);
  if (shown === undefined || shown.operations["list"] === undefined) {
    return (
      <Page title={t("shell.not_found")}>
        <Empty title={t("shell.not_found_hint")} icon="help" />
      </Page>
    );
  }
  const crumbs = child === undefined || owner === undefined ? [] : crumbsOf(resource, owner);
  return <Loaded key={`${shown.name}/${owner ?? ""}`} resource={shown} params={pathParams} crumbs={crumbs} />;
}

/** The records that the list belongs to, and the one. */
function crumbsOf(resource: Resource, id: string): Crumb[] {
  const number = /^\d+$/.test(id) ? Number(id) : id;
  const item = related(resource.name, number).value;
  const name = item === null || item === undefined ? `#${id}` : labelOf(resource, item, (own) => t("lists.untitled", { id: own }));
  return [
    { label: resource.label, path: places.list(resource.name) },
    { label: name, path: places.item(resource.name, id) },
  ];
}

function Loaded(props: { resource: Resource; params: Params; crumbs: Crumb[] }): JSX.Element {
  const { resource, params } = props;
  const loaded = useLoad(() => api().schemas.of(resource, params), [resource, params]);
  // Lists do not wait for schemas: names of arguments are in the description.
  const schema: ResourceSchema = loaded.data ?? { schema: { properties: {} }, args: { list: assumedArgs(resource) } };
  const states = useMemo(() => statesOf(resource), [resource]);
  return <Listing {...props} schema={schema} described={loaded.data !== undefined} states={states} />;
}
