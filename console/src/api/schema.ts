/** Schemas and arguments of a resource, from `OPTIONS` of its paths; kept as long as the declarations stay the same. */

import type { Operation, Resource } from "./description";
import { isObject } from "./failure";
import type { Http } from "./http";
import { fillPath } from "./query";

/** A JSON Schema (draft 4), as far as the server writes it. */
export interface Schema {
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  default?: unknown;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  required?: boolean | string[];
  readonly?: boolean;
  context?: string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  oneOf?: Schema[];
  anyOf?: Schema[];
}

export type Args = Record<string, Schema>;

export interface ResourceSchema {
  /** What a record is. */
  schema: Schema;
  /** Arguments of operations, by their names; an operation that the caller may not use is absent. */
  args: Record<string, Args>;
}

export interface Schemas {
  of(resource: Resource, params?: Record<string, string | number>): Promise<ResourceSchema>;
}

/** Where answers are kept between visits. */
export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** An id for paths whose item does not matter. */
const NO_ITEM = 0;

/** `say` gives a text in the language of the page. */
export function createSchemas(http: Http, version: string, shelf: Shelf | null = null, say: (text: string) => string = (text) => text): Schemas {
  const loaded = new Map<string, Promise<unknown>>();
  const key = (path: string): string => `console.options.${http.boot.user}.${version}.${path}`;

  const load = async (path: string): Promise<unknown> => {
    const kept = shelf?.getItem(key(path)) ?? null;
    if (kept !== null) return JSON.parse(kept) as unknown;
    const { data } = await http.request(path, { method: "OPTIONS" });
    try {
      shelf?.setItem(key(path), JSON.stringify(data));
    } catch {
      // No room, or none allowed: the next visit asks again.
    }
    return data;
  };

  const options = (path: string): Promise<unknown> => {
    let answer = loaded.get(path);
    if (answer === undefined) {
      answer = load(path).then((told) => inLanguage(told, say));
      loaded.set(path, answer);
      answer.catch(() => loaded.delete(path));
    }
    return answer;
  };

  return {
    async of(resource, params = {}) {
      const fill = (operation: Operation): string => {
        const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? "");
        const values = Object.fromEntries(names.map((name) => [name, params[name] ?? NO_ITEM]));
        return fillPath(operation.path, values);
      };
      const operations = Object.entries(resource.operations).filter(([name, operation]) => isOwn(resource, name, operation));
      const paths = [...new Set(operations.map(([, operation]) => fill(operation)))];
      const answers = new Map(await Promise.all(paths.map(async (path) => [path, await options(path)] as const)));
      const args: Record<string, Args> = {};
      for (const [name, operation] of operations) args[name] = argsOf(answers.get(fill(operation)), operation.method);
      const own = ["get", "list", "update", "create"].map((name) => resource.operations[name]).filter((found) => found !== undefined);
      const schema = own.map((operation) => schemaOf(answers.get(fill(operation)))).find((found) => found !== null);
      return { schema: schema ?? { type: "object", properties: {} }, args };
    },
  };
}

/** Members of schemas that people read. */
const READ_BY_PEOPLE = ["title", "description"];

function inLanguage(told: unknown, say: (text: string) => string): unknown {
  if (Array.isArray(told)) return told.map((item) => inLanguage(item, say));
  if (!isObject(told)) return told;
  const member = (name: string, value: unknown): unknown =>
    typeof value === "string" ? (READ_BY_PEOPLE.includes(name) ? say(value) : value) : inLanguage(value, say);
  return Object.fromEntries(Object.entries(told).map(([name, value]) => [name, member(name, value)]));
}

const READ = ["list", "get"];

/** Whether an operation is on the list or on a record. What is below a record, such as its versions, has forms of its own. */
function isOwn(resource: Resource, name: string, operation: Operation): boolean {
  if (operation.method === "GET") return READ.includes(name);
  if (operation.file && name !== "create") return false;
  const known = [resource.key, resource.parent?.parameter];
  return [...operation.path.matchAll(/\{([^}]+)\}/g)].every((match) => known.includes(match[1]));
}

function argsOf(answer: unknown, method: string): Args {
  const endpoints = isObject(answer) && Array.isArray(answer["endpoints"]) ? answer["endpoints"] : [];
  for (const endpoint of endpoints as unknown[]) {
    if (!isObject(endpoint) || !Array.isArray(endpoint["methods"])) continue;
    if (endpoint["methods"].includes(method)) return isObject(endpoint["args"]) ? (endpoint["args"] as Args) : {};
  }
  return {};
}

function schemaOf(answer: unknown): Schema | null {
  return isObject(answer) && isObject(answer["schema"]) ? (answer["schema"] as Schema) : null;
}

/** The types of a schema, without null. */
export function typesOf(schema: Schema): string[] {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return types.filter((type) => type !== "null");
}
