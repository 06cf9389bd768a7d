/**
 * Which other records an item screen shows: those that belong to the record, and those that refer to it.
 *
 * It follows from the description (`parent`, relations) and from the links of the record itself, which lead to lists with
 * a query. Terms of the record, and what has a screen of its own such as revisions, are left out.
 */

import { argument, type Id, type Item } from "../api/adapter";
import type { Description, Resource } from "../api/description";
import { isObject } from "../api/failure";
import type { Query } from "../api/query";

export type Panel =
  /** Records below the record, by a parameter of their paths. */
  | { kind: "below"; resource: Resource; parameter: string }
  /** Records that a list with a query selects. `field` is the property that refers; null where only a link says so. */
  | { kind: "referring"; resource: Resource; field: string | null; query: Query };

export function nameOfPanel(panel: Panel): string {
  return panel.kind === "below" ? `${panel.resource.name}/below` : `${panel.resource.name}/${panel.field ?? Object.keys(panel.query).join("+")}`;
}

/** Panels of a record, those that belong to it first. */
export function panelsOf(resource: Resource, id: Id, item: Item, description: Description): Panel[] {
  return [...below(resource, description), ...referring(resource, id, item, description)];
}

export function below(resource: Resource, description: Description): Panel[] {
  return description.resources.flatMap((other) =>
    other.parent?.resource === resource.name && other.operations["list"] !== undefined ? [{ kind: "below" as const, resource: other, parameter: other.parent.parameter }] : [],
  );
}

function referring(resource: Resource, id: Id, item: Item, description: Description): Panel[] {
  const declared = relationsTo(resource, description).map(({ resource: other, field, select }): Panel => ({ kind: "referring", resource: other, field, query: select(id) }));
  const known = new Set(declared.map((panel) => panel.resource.name));
  const linked = linkedLists(item, description).filter(({ resource: other }) => !known.has(other.name) && !resource.taxonomies.includes(other.name));
  return [...declared, ...linked.map(({ resource: other, query }): Panel => ({ kind: "referring", resource: other, field: fieldOf(query), query }))];
}

function fieldOf(query: Query): string | null {
  const names = Object.keys(query);
  return names.length === 1 ? (names[0] ?? null) : null;
}

export interface RelationTo {
  resource: Resource;
  field: string;
  select: (id: Id) => Query;
}

/** Properties of other resources that refer to records of this one, where their lists can be filtered by them. */
export function relationsTo(target: Resource, description: Description): RelationTo[] {
  return description.resources.flatMap((other) => {
    if (other.parent !== null || other.operations["list"] === undefined) return [];
    return Object.entries(other.fields).flatMap(([field, hints]) => {
      if (hints.relation?.resources.includes(target.name) !== true) return [];
      const select = selection(other, field, hints.operators ?? [], hints.relation.many);
      return select === null ? [] : [{ resource: other, field, select }];
    });
  });
}

/** How a list is asked for the records that refer to an id. */
function selection(resource: Resource, field: string, operators: readonly string[], many: boolean): ((id: Id) => Query) | null {
  if (argument(resource, "list", field)) return (id) => ({ [field]: id });
  if (!argument(resource, "list", "where")) return null;
  const operator = many ? ["any", "in", "eq"].find((name) => operators.includes(name)) : ["eq", "in"].find((name) => operators.includes(name));
  return operator === undefined ? null : (id) => ({ where: { [field]: { [operator]: id } } });
}

/** Links of a record that lead to the list of a resource, with a query. */
export function linkedLists(item: Item, description: Description): { resource: Resource; query: Query; rel: string }[] {
  const links = isObject(item["_links"]) ? item["_links"] : {};
  const found: { resource: Resource; query: Query; rel: string }[] = [];
  for (const [rel, targets] of Object.entries(links)) {
    for (const target of Array.isArray(targets) ? (targets as unknown[]) : []) {
      if (!isObject(target) || typeof target["href"] !== "string") continue;
      const told = listOf(target["href"], description);
      if (told !== null && !found.some((one) => one.resource === told.resource)) found.push({ ...told, rel });
    }
  }
  return found;
}

function listOf(href: string, description: Description): { resource: Resource; query: Query } | null {
  let url: URL;
  try {
    url = new URL(href, "http://localhost");
  } catch {
    return null;
  }
  // Sites without addresses for paths say the route in the query.
  const path = url.searchParams.get("rest_route") ?? url.pathname;
  url.searchParams.delete("rest_route");
  const query = Object.fromEntries(url.searchParams);
  if (Object.keys(query).length === 0) return null;
  const resource = description.resources.find((one) => {
    const list = one.operations["list"]?.path;
    return one.key !== null && list !== undefined && !list.includes("{") && (path === list || path.replace(/\/$/, "").endsWith(list));
  });
  return resource === undefined || !Object.keys(query).every((name) => argument(resource, "list", name)) ? null : { resource, query };
}

/** What a new record is told when it is made in a panel: the property that refers, where it can be written. */
export function presetOf(panel: Panel, id: Id): Item | null {
  if (panel.kind === "below" || panel.field === null || !argument(panel.resource, "create", panel.field)) return null;
  const many = panel.resource.fields[panel.field]?.relation?.many === true;
  return { [panel.field]: many ? [id] : id };
}

/**
 * Members that only the answer to the creation has, such as the text of a password: they are shown once. `later` is the
 * record as it is listed.
 */
export function shownOnce(created: Item, later: Item): [string, string][] {
  return Object.entries(created).flatMap(([name, value]) => (!(name in later) && !name.startsWith("_") && typeof value === "string" && value !== "" ? [[name, value] as [string, string]] : []));
}

/** The resource of the people, and of the caller: it has an operation for the caller's own record. */
export function ownResource(description: Description): Resource | null {
  return description.resources.find((resource) => OWN in resource.operations) ?? null;
}

const OWN = "get_me";

/** Fields of records in a tree: what their list declares of its layout as a tree. Null: it is no such list. */
export function treeFieldsOf(resource: Resource): { order: string; parent: string } | null {
  const layout = resource.view.default_layouts["tree"]?.layout ?? {};
  const order = layout["orderField"];
  const parent = layout["parentField"] ?? "parent";
  if (typeof order !== "string" || typeof parent !== "string") return null;
  return argument(resource, "update", order) && argument(resource, "update", parent) ? { order, parent } : null;
}
