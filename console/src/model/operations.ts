/** Operations of one record besides those of every resource: revisions and autosaves, where they are declared. */

import type { OperationName, Resource } from "../api/description";
import type { Id, Params } from "../api/adapter";

/** The operation that stores what is being written, without changing what visitors see. */
export function autosaveOf(resource: Resource): OperationName | null {
  return ["autosave", "autosaves"].find((name) => resource.operations[name]?.method === "POST") ?? null;
}

/** The operation that lists what was stored so. */
export function autosavesOf(resource: Resource): OperationName | null {
  return resource.operations["autosaves"]?.method === "GET" ? "autosaves" : null;
}

export function revisionsOf(resource: Resource): OperationName | null {
  return resource.operations["revisions"]?.method === "GET" ? "revisions" : null;
}

/** The operation that makes a link under which the front end shows what is being written. */
export function previewLinkOf(resource: Resource): OperationName | null {
  return resource.operations["preview_link"]?.method === "POST" ? "preview_link" : null;
}

/** Parameters of a path: the first names the record, the second what belongs to it. */
export function parametersOf(resource: Resource, name: OperationName, ...values: Id[]): Params {
  const path = resource.operations[name]?.path ?? "";
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? "");
  // Of a record that belongs to another one, the first parameters name that one.
  const own = names.slice(Math.max(0, names.length - values.length));
  return Object.fromEntries(own.map((parameter, place) => [parameter, values[place] ?? ""]));
}
