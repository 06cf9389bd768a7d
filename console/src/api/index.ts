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

/** Grows with each description that takes the place of another one. */
export const generation = signal(0);

/** The server describes itself in another way than this page knows: it should be loaded again. */
export const outdated = signal(false);

/**
 * Loads the description and makes everything that depends on it. A description that the visit has seen before is used at
 * once, and compared with the present one while the first screen loads: where they differ, the present one takes its place
 * as long as nobody has typed anything. `language` is that of its texts, where there are translations.
 */
export async function startApi(http: Http, shelf: Shelf | null = null, untouched: () => boolean = () => false, language = "en"): Promise<Api> {
  const key = `console.description.${http.boot.user}.${language}`;
  const kept = shelf?.getItem(key) ?? null;
  const fresh = http.request<Description>("/console/v1/description", { query: { lang: language } }).then(({ data }) => {
    const text = JSON.stringify(data);
    try {
      shelf?.setItem(key, text);
    } catch {
      // No room, or none allowed: the next page waits for the description.
    }
    compare(kept, data);
    if (outdated.value && untouched()) setApi(http, data, shelf);
    return data;
  });
  if (kept === null) return setApi(http, await fresh, shelf);
  // A failure shows at the first request of the screen.
  fresh.catch(() => undefined);
  return setApi(http, JSON.parse(kept) as Description, shelf);
}

/** What changed since the visit began: the name of the site and the like are taken over, more needs a new page. */
function compare(kept: string | null, data: Description): void {
  const before = kept === null ? data : (JSON.parse(kept) as Description);
  const rest = ({ site: _, ...others }: Description): string => JSON.stringify(others);
  outdated.value = rest(before) !== rest(data);
  const now = current.peek();
  if (!outdated.value && now !== null && JSON.stringify(now.description.site) !== JSON.stringify(data.site)) {
    current.value = { ...now, description: { ...now.description, site: data.site } };
  }
}

export function setApi(http: Http, description: Description, shelf: Shelf | null = null): Api {
  useTranslations(description.texts);
  const schemas = createSchemas(http, description.version, shelf, description.texts === undefined ? undefined : say);
  const api = { http, adapter: createAdapter(http, schemas), schemas, description };
  current.value = api;
  outdated.value = false;
  generation.value = generation.peek() + 1;
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
