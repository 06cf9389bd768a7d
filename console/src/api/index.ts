/** What the screens use of the server: set up once, when the page starts. */

import { signal } from "@preact/signals";
import { type Adapter, createAdapter } from "./adapter";
import type { Description, Resource, State } from "./description";
import type { Http } from "./http";
import { say, useTranslations } from "../model/labels";
import { createSchemas, type Schemas, type Shelf } from "./schema";

export interface Api {
  http: Http;
  adapter: Adapter;
  schemas: Schemas;
  description: Description;
}

const current = signal<Api | null>(null);

/** The language of the declarations. */
const DECLARED = "en";

/**
 * Makes everything that depends on the description. It came with the page, unless its texts are in another language than
 * the one that is wanted.
 */
export async function startApi(http: Http, shelf: Shelf | null = null, language = DECLARED): Promise<Api> {
  const brought = (http.boot.language ?? DECLARED) === language ? http.boot.description : null;
  const description = brought ?? (await http.request<Description>("/console/v1/description", { query: { lang: language } })).data;
  return setApi(http, description, shelf);
}

export function setApi(http: Http, description: Description, shelf: Shelf | null = null): Api {
  useTranslations(description.texts);
  const schemas = createSchemas(http, description.version, shelf, description.texts === undefined ? undefined : say);
  const api = { http, adapter: createAdapter(http, schemas), schemas, description };
  current.value = api;
  return api;
}

/** For what runs after the start: all screens and controls. */
export function api(): Api {
  if (current.value === null) throw new Error("The description is not loaded yet.");
  return current.value;
}

export function findResource(name: string): Resource | undefined {
  return api().description.resources.find((resource) => resource.name === name);
}

/** A state of a resource. Records and comments may have states of the same name. */
export function findState(resource: Resource, name: string): State | undefined {
  // Some schemas spell states with capitals.
  const small = name.toLowerCase();
  return statesOf(resource).find((state) => state.name === name || state.names.includes(name) || state.name === small);
}

/** The states of a resource, in their declared order. */
export function statesOf(resource: Resource): State[] {
  const all = api().description.states;
  // States that requests call by other names belong together.
  const renamed = resource.states.some((name) => !all.some((state) => state.name === name && state.names.length === 0));
  return resource.states.flatMap((name) => {
    const called = all.filter((state) => state.name === name);
    return called.find((state) => state.names.length > 0 === renamed) ?? called[0] ?? [];
  });
}
