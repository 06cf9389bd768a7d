/** The request of a list, from what it shows. */

import type { Resource, State } from "../api/description";
import type { Query, QueryValue } from "../api/query";
import { type Args, type Schema, typesOf } from "../api/schema";
import { titleField } from "./record";
import { hasStates, STATE_ARGUMENT, stateValue } from "./list-states";
import type { Filter, ListView } from "./view-state";

/** Prefix of filters that are arguments of the list. */
export const ARGUMENT = "arg:";

/** Properties that every layout needs, beside those that are shown. */
const ALWAYS = ["link", "parent"];

export interface Context {
  resource: Resource;
  /** Arguments of the list. */
  args: Args;
  states: readonly State[];
  /** Of a record. */
  schema: Schema;
}

/** Arguments that decide which records there are: for pages, counts and whole selections alike. */
export function selection(view: Pick<ListView, "state" | "search" | "filters">, context: Omit<Context, "schema">): Query {
  const { args, states, resource } = context;
  const query: Query = {};
  if (hasStates(resource, args)) query[STATE_ARGUMENT] = stateValue(view.state, states, args);
  if (view.search !== "" && "search" in args) query["search"] = view.search;
  Object.assign(query, filterQuery(view.filters));
  return query;
}

/** The whole request of a page, without its place. */
export function pageQuery(view: ListView, context: Context): Query {
  const { resource, args } = context;
  const query: Query = { ...selection(view, context), ...order(view, context), per_page: "per_page" in args ? view.perPage : undefined };
  const shown = [resource.key, titleField(resource), ...view.fields, ...ALWAYS, ...viewFields(resource)];
  if ("context" in args && shown.some((name) => needsEdit(context.schema, name))) query["context"] = "edit";
  if (resource.states.length > 0) shown.push(STATE_ARGUMENT);
  query["_fields"] = [...new Set(shown.filter((name) => name !== null && name !== undefined))];
  return query;
}

/**
 * Whether only those who may edit a record see a property. Lists ask as readers do where they can: asked as editors, they
 * would leave out what somebody may read but not change.
 */
function needsEdit(schema: Schema, field: string | null | undefined): boolean {
  const contexts = field === null || field === undefined ? undefined : schema.properties?.[field.split(".")[0] ?? ""]?.context;
  return contexts !== undefined && contexts.includes("edit") && !contexts.includes("view");
}

function viewFields(resource: Resource): (string | undefined)[] {
  const { mediaField, descriptionField } = resource.view.default_view;
  const file = resource.supports.includes("files") ? ["mime_type", "media_details.sizes"] : [];
  return [mediaField, descriptionField, orderField(resource) ?? undefined, ...file];
}

/** Sort key and direction; of a search, what fits best comes first unless somebody has chosen an order. */
function order(view: ListView, { resource, args }: Context): Query {
  const keys = args["orderby"]?.enum ?? [];
  if (view.sort === null) return view.search !== "" && keys.includes("relevance") ? { orderby: "relevance" } : {};
  const key = resource.fields[view.sort.field]?.sort;
  if (key === undefined) return {};
  if ("orderby" in args && "order" in args) return { orderby: key, order: view.sort.direction };
  if ("order_by" in args) return { order_by: `${view.sort.direction === "desc" ? "-" : ""}${key}` };
  return "orderby" in args ? { orderby: key } : {};
}

/** The same records in the opposite order; null where the request names no order. */
export function reversed(query: Query): Query | null {
  const { order, order_by } = query;
  if (order === "asc" || order === "desc") return { ...query, order: order === "asc" ? "desc" : "asc" };
  if (typeof order_by !== "string" || order_by.includes(",")) return null;
  return { ...query, order_by: order_by.startsWith("-") ? order_by.slice(1) : `-${order_by}` };
}

function filterQuery(filters: readonly Filter[]): Query {
  const query: Query = {};
  const where: Record<string, Record<string, QueryValue>> = {};
  for (const { field, operator, value } of filters.filter(isComplete)) {
    if (field.startsWith(ARGUMENT)) query[field.slice(ARGUMENT.length)] = value;
    else where[field] = { ...where[field], [operator]: LISTED.has(operator) ? value : (value[0] ?? "") };
  }
  if (Object.keys(where).length > 0) query["where"] = where;
  return query;
}

/** A filter whose value somebody has still to choose selects nothing yet. */
export function isComplete(filter: Filter): boolean {
  return filter.value.some((one) => one !== "");
}

/** Operators that take several values. */
export const LISTED = new Set(["in", "not_in", "any", "all", "none"]);

/** The names of the arguments, before their schemas are there. */
export function assumedArgs(resource: Resource): Args {
  return Object.fromEntries((resource.operations["list"]?.args ?? []).map((name) => [name, {}]));
}

/** Arguments that are no filters: how the list is read, not which records it has. */
const NO_FILTER = new Set([
  "context", "page", "per_page", "offset", "order", "orderby", "order_by", "where", "_count_by", "search", "search_columns",
  "search_semantics", "exclude", "include", "password", "slug", STATE_ARGUMENT,
]);

export interface FilterOffer {
  field: string;
  operators: string[];
}

/** What a list can be filtered by: properties with operators, and arguments whose values are known. */
export function filterOffers(resource: Resource, args: Args): FilterOffer[] {
  const own = Object.entries(resource.fields)
    .filter(([name, hints]) => (hints.operators?.length ?? 0) > 0 && name !== STATE_ARGUMENT && !name.endsWith("_gmt"))
    .map(([field, hints]) => ({ field, operators: hints.operators ?? [] }));
  const covered = new Set(own.map((offer) => offer.field));
  const more = Object.keys(args)
    .filter((name) => !NO_FILTER.has(name) && !covered.has(name) && !/_(exclude|relation|after|before)$|^(after|before)$/.test(name))
    .filter((name) => isFilterArgument(name, resource, args))
    .map((name) => ({ field: `${ARGUMENT}${name}`, operators: ["is"] }));
  return [...own, ...more];
}

/** An argument without a default of its own, whose values can be offered. */
function isFilterArgument(name: string, resource: Resource, args: Args): boolean {
  const schema = args[name];
  if (schema === undefined || typesOf(schema).includes("object")) return false;
  const preset = schema.default !== undefined && schema.default !== null && !(Array.isArray(schema.default) && schema.default.length === 0);
  if (preset) return false;
  const hints = resource.fields[name];
  const known = schema.enum ?? schema.items?.enum ?? Object.keys(hints?.labels ?? {});
  return known.length > 0 || hints?.relation !== undefined || typesOf(schema).includes("boolean");
}

/** The property that keeps the order of records beside each other: what the layout of a tree declares. */
export function orderField(resource: Resource): string | null {
  const declared = resource.view.default_layouts["tree"]?.layout ?? resource.view.default_view.layout;
  const told = declared?.["orderField"] ?? declared?.["order_field"];
  return typeof told === "string" && told !== "" ? told : null;
}
