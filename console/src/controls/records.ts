/** Records that fields refer to: their names, searching for them, making them. */

import { argument, idOf, type Adapter, type Id, type Item } from "../api/adapter";
import type { Description, Resource } from "../api/description";
import type { Query } from "../api/query";
import type { JsonSchema } from "../model/json-schema";
import { titleName, titleOf } from "../model/roles";
import type { Choice } from "../ui/combobox";
import { t } from "../i18n";

export function resourceOf(description: Description, name: string | undefined): Resource | null {
  return description.resources.find((resource) => resource.name === name) ?? null;
}

/** Members that name a record where it has no title. */
const NAMES = ["title", "name", "label", "username", "slug", "email"];

export function nameOf(resource: Resource, item: Item): string {
  const declared = resource.view.default_view.titleField;
  for (const name of declared === undefined ? NAMES : [declared, ...NAMES]) {
    const text = titleOf(item, name);
    if (text !== "") {
      return text;
    }
  }
  return t("forms.untitled", { id: String(idOf(resource, item)) });
}

export function choiceOf(resource: Resource, item: Item): Choice {
  return { value: String(idOf(resource, item)), label: nameOf(resource, item) };
}

/** What a list of choices needs of a record. */
const PAGE = 20;

export async function searchRecords(adapter: Adapter, resource: Resource, text: string, signal: AbortSignal, more: Query = {}): Promise<Item[]> {
  const query: Query = { per_page: PAGE, ...more };
  if (text !== "" && argument(resource, "list", "search")) {
    query["search"] = text;
  }
  if (text === "") {
    Object.assign(query, byName(resource));
  }
  if (argument(resource, "list", "context")) {
    query["context"] = "view";
  }
  return (await adapter.list(resource, query, { signal })).items;
}

/** Records as choices; those of a hierarchy say what they are below: names may be there several times. */
export async function choicesOf(adapter: Adapter, resource: Resource, items: readonly Item[], signal: AbortSignal): Promise<Choice[]> {
  const above = resource.hierarchical ? [...new Set(items.map(parentOf).filter((id) => id !== null))] : [];
  const named = new Map([...items, ...(await recordsOf(adapter, resource, above, signal))].map((item) => [String(idOf(resource, item)), nameOf(resource, item)]));
  return items.map((item) => ({ ...choiceOf(resource, item), hint: named.get(String(parentOf(item))) }));
}

function parentOf(item: Item): Id | null {
  const parent = item["parent"];
  return typeof parent === "number" && parent > 0 ? parent : typeof parent === "string" && parent !== "" ? parent : null;
}

/** People look for a name where it stands in the alphabet; what is searched is in the order of how well it fits. */
function byName(resource: Resource): Query {
  const title = resource.view.default_view.titleField ?? "";
  const key = resource.fields[title]?.sort;
  return key !== undefined && argument(resource, "list", "order_by") ? { order_by: key } : {};
}

/** The records of ids; one that is gone, or may not be seen, is absent. */
export async function recordsOf(adapter: Adapter, resource: Resource, ids: readonly Id[], signal?: AbortSignal): Promise<Item[]> {
  return ids.length === 0 ? [] : adapter.many(resource, ids, { signal });
}

/** What a new record needs besides its name; null: it cannot be made here. */
export interface Recipe {
  title: string;
  /** Further properties that the server wants. */
  required: string[];
  args: Record<string, JsonSchema>;
}

export function recipeOf(resource: Resource, args: Record<string, JsonSchema> | undefined): Recipe | null {
  if (args === undefined || resource.operations["create"] === undefined || resource.operations["create"].file) {
    return null;
  }
  const title = titleName(resource, args);
  if (title === null) {
    return null;
  }
  const required = Object.entries(args).filter(([name, schema]) => schema.required === true && name !== title).map(([name]) => name);
  return { title, required, args };
}

/** The body that makes a record of a name. */
export function bodyOf(recipe: Recipe, name: string, more: Record<string, unknown> = {}): Item {
  const wrapped = recipe.args[recipe.title]?.properties?.["raw"] !== undefined;
  return { ...more, [recipe.title]: wrapped ? { raw: name } : name };
}
