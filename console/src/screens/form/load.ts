/** Everything a form needs: schema and arguments, fields, the record, what the caller may do. */

import { argument, idOf, type Item, type One, type Params } from "../../api/adapter";
import type { Api } from "../../api";
import type { Resource } from "../../api/description";
import { Failure } from "../../api/failure";
import { fieldsOf, type Field } from "../../model/fields";
import type { JsonSchema, SchemaLink } from "../../model/json-schema";
import { hintsOf } from "../../model/roles";

export interface Loaded {
  resource: Resource;
  params: Params;
  fields: Field[];
  links: SchemaLink[];
  /** Null for a new record. */
  one: One | null;
  /** The arguments of an autosave; empty where there is none. */
  autosaved: string[];
}

/** Loads the form of a record; `id` null: of a new one, or of a singleton. */
export async function loadForm(api: Api, resource: Resource, id: string | null, params: Params, autosave: string | null, signal?: AbortSignal): Promise<Loaded> {
  const reads = id !== null || resource.key === null;
  const [found, one] = await Promise.all([
    api.schemas.of(resource, params),
    reads ? readable(api, resource, id, params, signal) : Promise.resolve(null),
  ]);
  const schema = found.schema as JsonSchema;
  const writes = one === null ? "create" : "update";
  const operation = resource.operations[writes];
  const mayWrite = operation !== undefined && (one === null || one.allow.length === 0 || one.allow.includes(operation.method));
  const properties = schema.properties ?? {};
  const args = mayWrite ? (found.args[writes] as Record<string, JsonSchema> | undefined) ?? {} : null;
  const fields = fieldsOf({ properties, args, hints: hintsOf(resource, api.description, { ...args, ...properties }), parameters: parametersIn(operation?.path ?? "") });
  const autosaved = autosave === null ? [] : Object.keys(found.args[autosave] ?? {});
  return { resource, params, fields: present(fields, one?.item ?? null), links: schema.links ?? [], one, autosaved };
}

/** As editors see it; where that is not open to the caller, as visitors see it, to be read. */
async function readable(api: Api, resource: Resource, id: string | null, params: Params, signal: AbortSignal | undefined): Promise<One> {
  try {
    return await api.adapter.one(resource, id, { params, signal });
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 403 || !argument(resource, "get", "context")) {
      throw error;
    }
    const one = await api.adapter.one(resource, id, { params, signal, query: { context: "view" } });
    return { ...one, allow: ["GET"] };
  }
}

/** A property that a record lacks, and that cannot be written, says nothing: its feature is off, or the caller may not see it. */
function present(fields: Field[], item: Item | null): Field[] {
  return item === null ? fields : fields.filter((field) => !field.readOnly || Object.hasOwn(item, field.path));
}

export function parametersIn(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? "");
}

export function idText(resource: Resource, item: Item): string {
  return String(idOf(resource, item));
}
