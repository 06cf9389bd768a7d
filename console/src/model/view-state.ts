/** What a list shows, as a plain value that is kept in the address: it can be linked, kept and gone back to. */

import type { Resource, View } from "../api/description";
import { ALL, STATE_ARGUMENT } from "./list-states";

export interface Filter {
  /** A property with operators, or `arg:NAME` for an argument of the list. */
  field: string;
  operator: string;
  value: string[];
}

export interface Sort {
  field: string;
  direction: "asc" | "desc";
}

export interface ListView {
  layout: string;
  /** Name of a state, or "all". */
  state: string;
  search: string;
  filters: Filter[];
  sort: Sort | null;
  page: number;
  perPage: number;
  /** Properties that are shown beside the title. */
  fields: string[];
}

export const LAYOUTS = ["table", "list", "grid", "tree"] as const;
export type LayoutName = (typeof LAYOUTS)[number];
export const PAGE_SIZES = [10, 20, 50, 100];

/** What somebody has chosen for the lists of a resource. */
export type Habits = Partial<Pick<ListView, "layout" | "perPage" | "fields">>;

/** Layouts that fit a resource: those that are declared, else what its records allow. */
export function layoutsOf(resource: Resource): LayoutName[] {
  const declared = LAYOUTS.filter((name) => name in resource.view.default_layouts);
  const own = resource.view.default_view.type;
  const all = new Set<LayoutName>([...declared, ...LAYOUTS.filter((name) => name === own)]);
  if (all.size === 0) all.add("table").add("list");
  if (resource.hierarchical && resource.operations["list"]?.args.includes("parent") === true) all.add("tree");
  return LAYOUTS.filter((name) => all.has(name));
}

/** The view of a list that nobody has changed. */
export function initialView(resource: Resource, habits: Habits = {}): ListView {
  const declared = resource.view.default_view;
  const layouts = layoutsOf(resource);
  const layout = [habits.layout, declared.type].find((name) => layouts.some((one) => one === name));
  const chosen = layout ?? layouts[0] ?? "table";
  const merged: View = { ...declared, ...resource.view.default_layouts[chosen] };
  const sizes = PAGE_SIZES.includes(habits.perPage ?? 0) ? habits.perPage : merged.perPage;
  return {
    layout: chosen,
    state: ALL,
    search: "",
    filters: declaredFilters(resource, merged),
    sort: merged.sort === undefined ? null : { ...merged.sort },
    page: 1,
    perPage: Math.min(Math.max(sizes ?? 20, 1), 100),
    fields: habits.fields ?? merged.fields ?? [],
  };
}

/** What declarations call comparisons, as lists take them. Of several names the first that the property takes is meant. */
const COMPARISONS: Record<string, string[]> = {
  is: ["eq", "any", "in"],
  isNot: ["ne", "none", "not_in"],
  isAny: ["in", "any"],
  isNone: ["not_in", "none"],
  isAll: ["all"],
  isNotAll: ["none"],
  lessThan: ["lt"],
  greaterThan: ["gt"],
  lessThanOrEqual: ["le"],
  greaterThanOrEqual: ["ge"],
  before: ["lt"],
  beforeInc: ["le"],
  after: ["gt"],
  afterInc: ["ge"],
  on: ["eq"],
  notOn: ["ne"],
};

function declaredFilters(resource: Resource, view: View): Filter[] {
  return (view.filters ?? [])
    .filter(({ field }) => field !== STATE_ARGUMENT)
    .map(({ field, operator, value }) => {
      const taken = resource.fields[field]?.operators ?? [];
      const names = COMPARISONS[operator] ?? [operator];
      return { field, operator: names.find((name) => taken.includes(name)) ?? names[0] ?? operator, value: (Array.isArray(value) ? value : [value]).map(String) };
    });
}

/** The state that a declared view selects. */
function declaredState(resource: Resource, view: View): string {
  const told = (view.filters ?? []).find(({ field }) => field === STATE_ARGUMENT)?.value;
  const name = Array.isArray(told) ? told[0] : told;
  return resource.states.find((state) => state === name) ?? ALL;
}

export interface NamedView {
  name: string;
  title: string;
  view: ListView;
}

/** Declared views that select more than a state: states have tabs of their own. */
export function namedViews(resource: Resource, initial: ListView): NamedView[] {
  return resource.view.view_list.flatMap(({ title, slug, view }) => {
    const filters = view === undefined ? [] : declaredFilters(resource, view);
    if (view === undefined || (filters.length === 0 && view.sort === undefined && view.fields === undefined)) return [];
    const layout = layoutsOf(resource).find((name) => name === view.type) ?? initial.layout;
    const own = { layout, filters, state: declaredState(resource, view), sort: view.sort ?? initial.sort, fields: view.fields ?? initial.fields };
    return [{ name: slug, title, view: { ...initial, ...own } }];
  });
}

/** The query of the address: only what differs from the initial view. */
export function writeView(view: ListView, initial: ListView): string {
  const query = new URLSearchParams();
  if (view.state !== initial.state) query.set("state", view.state);
  if (view.search !== "") query.set("q", view.search);
  if (!same(view.filters, initial.filters)) {
    for (const filter of view.filters) query.append("f", writeFilter(filter));
    if (view.filters.length === 0) query.set("f", "");
  }
  if (!same(view.sort, initial.sort) && view.sort !== null) query.set("sort", `${view.sort.direction === "desc" ? "-" : ""}${view.sort.field}`);
  if (view.page !== 1) query.set("page", String(view.page));
  if (view.perPage !== initial.perPage) query.set("per", String(view.perPage));
  if (view.layout !== initial.layout) query.set("layout", view.layout);
  if (!same(view.fields, initial.fields)) query.set("columns", view.fields.join(","));
  return query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
}

/** The view that a query of the address describes; what it does not say, and what makes no sense, is initial. */
export function readView(query: string, initial: ListView, resource: Resource): ListView {
  const told = new URLSearchParams(query);
  const sort = told.get("sort");
  const layout = told.get("layout");
  const columns = told.get("columns");
  const state = told.get("state");
  return {
    layout: layout !== null && layoutsOf(resource).some((one) => one === layout) ? layout : initial.layout,
    state: state !== null && (state === ALL || resource.states.includes(state)) ? state : initial.state,
    search: told.get("q") ?? "",
    filters: told.has("f") ? told.getAll("f").flatMap((text) => readFilter(text) ?? []) : initial.filters,
    sort: sort === null || sort === "" ? initial.sort : readSort(sort),
    page: whole(told.get("page"), 1, 1_000_000) ?? 1,
    perPage: whole(told.get("per"), 1, 100) ?? initial.perPage,
    fields: columns === null ? initial.fields : columns.split(",").filter((name) => name !== ""),
  };
}

function readSort(text: string): Sort {
  return text.startsWith("-") ? { field: text.slice(1), direction: "desc" } : { field: text, direction: "asc" };
}

/** `field~operator~value,value`; commas and tildes of values are escaped. */
function writeFilter(filter: Filter): string {
  const value = filter.value.map((one) => one.replace(/[%,~]/g, (sign) => encodeURIComponent(sign).replace("~", "%7E")));
  return `${filter.field}~${filter.operator}~${value.join(",")}`;
}

function readFilter(text: string): Filter | null {
  const [field, operator, value] = text.split("~");
  if (field === undefined || field === "" || operator === undefined || value === undefined) return null;
  const values = value.split(",").map((one) => one.replace(/%2C/gi, ",").replace(/%7E/gi, "~").replace(/%25/g, "%"));
  return { field, operator, value: values };
}

function whole(text: string | null, least: number, most: number): number | null {
  if (text === null || !/^\d+$/.test(text)) return null;
  const value = Number(text);
  return value >= least && value <= most ? value : null;
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
