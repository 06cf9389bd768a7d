/**
 * The seam between the console and the contract: nine functions, uploads, and operations by name.
 *
 * Nothing else builds addresses of records. It knows no resource; what it needs is in the description.
 */

import { touched } from "./changes";
import type { Operation, OperationName, Resource } from "./description";
import { Failure, isObject } from "./failure";
import type { Answer, Http } from "./http";
import { type Schema, type Schemas, typesOf } from "./schema";
import { encodeQuery, fillPath, linkParameter, type Query } from "./query";

/** A record as the server sends it. */
export type Item = Record<string, unknown>;
export type Id = string | number;
/** Parameters of paths that name the record of another resource, such as `user_id`. */
export type Params = Record<string, Id>;

export interface Options {
  params?: Params;
  query?: Query;
  signal?: AbortSignal | undefined;
}

export interface Page {
  items: Item[];
  /** Of all pages; null where the server does not count, as on a walk by cursor. */
  total: number | null;
  pages: number | null;
  /** The cursor of the next page; null at the end, or without a walk. */
  next: string | null;
  /** There is another page. */
  more: boolean;
}

export interface One {
  item: Item;
  etag: string | null;
  /** Methods that the caller may use on the record. */
  allow: string[];
}

export interface BatchResult {
  done: { id: Id; item: Item }[];
  failed: { id: Id; failure: Failure }[];
}

export interface Adapter {
  list(resource: Resource, query: Query, options?: Options): Promise<Page>;
  one(resource: Resource, id: Id | null, options?: Options): Promise<One>;
  /** Records by their ids, in any order; those that the caller may not see are absent. */
  many(resource: Resource, ids: readonly Id[], options?: Options): Promise<Item[]>;
  /** Records that refer to a record, by the argument of the list that selects them. */
  manyReference(resource: Resource, argument: string, id: Id, query: Query, options?: Options): Promise<Page>;
  create(resource: Resource, values: Item, options?: Options): Promise<One>;
  update(resource: Resource, id: Id | null, values: Item, options?: Options & { ifMatch?: string | null }): Promise<One>;
  updateMany(resource: Resource, ids: readonly Id[], values: Item, options?: Options & Watch): Promise<BatchResult>;
  remove(resource: Resource, id: Id, options?: Options): Promise<Item>;
  removeMany(resource: Resource, ids: readonly Id[], options?: Options & Watch): Promise<BatchResult>;
  /** Creates a record from a file, or replaces the file of one; the values become its properties. */
  upload(resource: Resource, file: File, values: Item, options?: Options & UploadOptions): Promise<One>;
  /** Any operation of the description, by its name. */
  call<T = unknown>(resource: Resource, name: OperationName, options?: CallOptions): Promise<Answer<T>>;
}

export interface Watch {
  /** Called after each part of a long change. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}
export interface UploadOptions extends Watch {
  /** The record whose file is replaced; without it, a new one is created. */
  replaces?: Id;
}
export interface CallOptions extends Options {
  id?: Id | null;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Requests in a batch. */
const BATCH = 25;
/** Ids in one request. */
const MANY = 100;
/** Requests at once where an operation takes no part in batches. */
const AT_ONCE = 4;

export function createAdapter(http: Http, schemas: Schemas): Adapter {
  return new Contract(http, schemas);
}

class Contract implements Adapter {
  constructor(
    private readonly http: Http,
    private readonly schemas: Schemas,
  ) {}

  async list(resource: Resource, query: Query, options: Options = {}): Promise<Page> {
    const answer = await this.call<unknown>(resource, "list", { ...options, query: { ...query, ...options.query } });
    return this.page(answer);
  }

  async one(resource: Resource, id: Id | null, options: Options = {}): Promise<One> {
    const query = { context: argument(resource, "get", "context") ? "edit" : undefined, ...options.query };
    return one(await this.call<Item>(resource, "get", { ...options, id, query }));
  }

  async many(resource: Resource, ids: readonly Id[], options: Options = {}): Promise<Item[]> {
    const wanted = [...new Set(ids)];
    const parts = chunks(wanted, MANY);
    const query = await this.everyState(resource);
    const load = (include: Id[]): Promise<Page> =>
      this.list(resource, { ...query, include, per_page: include.length, ...options.query }, options);
    return (await Promise.all(parts.map(load))).flatMap((page) => page.items);
  }

  manyReference(resource: Resource, name: string, id: Id, query: Query, options: Options = {}): Promise<Page> {
    return this.list(resource, { ...query, [name]: id }, options);
  }

  async create(resource: Resource, values: Item, options: Options = {}): Promise<One> {
    return changed(resource, one(await this.call<Item>(resource, "create", { ...options, body: values })));
  }

  async update(resource: Resource, id: Id | null, values: Item, options: Options & { ifMatch?: string | null } = {}): Promise<One> {
    const { ifMatch, ...rest } = options;
    const headers: Record<string, string> = ifMatch === undefined || ifMatch === null ? {} : { "If-Match": ifMatch };
    return changed(resource, one(await this.call<Item>(resource, "update", { ...rest, id, body: values, headers })));
  }

  updateMany(resource: Resource, ids: readonly Id[], values: Item, options: Options & Watch = {}): Promise<BatchResult> {
    return this.each(resource, "update", ids, values, options);
  }

  async remove(resource: Resource, id: Id, options: Options = {}): Promise<Item> {
    return changed(resource, (await this.call<Item>(resource, "delete", { ...options, id })).data);
  }

  removeMany(resource: Resource, ids: readonly Id[], options: Options & Watch = {}): Promise<BatchResult> {
    return this.each(resource, "delete", ids, undefined, options);
  }

  async upload(resource: Resource, file: File, values: Item, options: Options & UploadOptions = {}): Promise<One> {
    const operation = operationOf(resource, options.replaces === undefined ? "create" : "replace");
    const form = new FormData();
    for (const [name, value] of Object.entries(values)) append(form, name, value);
    form.append("file", file, file.name);
    const answer = await this.http.request<Item>(fillPath(operation.path, parameters(resource, { ...options, id: options.replaces ?? null })), {
      method: operation.method,
      query: options.query ?? {},
      body: form,
      signal: options.signal,
      onProgress: options.onProgress ?? (() => undefined),
    });
    return changed(resource, one(answer));
  }

  call<T>(resource: Resource, name: OperationName, options: CallOptions = {}): Promise<Answer<T>> {
    const operation = operationOf(resource, name);
    return this.http.request<T>(fillPath(operation.path, parameters(resource, options)), {
      method: operation.method,
      query: options.query ?? {},
      body: this.http.boot.prefix === "wp" ? withEmptyTexts(options.body) : options.body,
      headers: options.headers ?? {},
      signal: options.signal,
    });
  }

  /** Lists show only some states by themselves. */
  private async everyState(resource: Resource): Promise<Query> {
    if (resource.states.length === 0 || !argument(resource, "list", "status")) return {};
    return { status: everyState(resource, (await this.schemas.of(resource)).args["list"]?.["status"]) };
  }

  /** The same operation on several records: by batch where it takes part, else a few requests at a time. */
  private async each(
    resource: Resource,
    name: OperationName,
    ids: readonly Id[],
    body: Item | undefined,
    options: Options & Watch,
  ): Promise<BatchResult> {
    const operation = operationOf(resource, name);
    const result: BatchResult = { done: [], failed: [] };
    for (const part of chunks(ids, operation.batch ? BATCH : AT_ONCE)) {
      if (operation.batch) await this.batched(resource, operation, part, body, options, result);
      else await Promise.all(part.map((id) => this.single(resource, name, id, body, options, result)));
      options.onProgress?.(result.done.length + result.failed.length, ids.length);
    }
    return changed(resource, result);
  }

  private async batched(
    resource: Resource,
    operation: Operation,
    ids: Id[],
    body: Item | undefined,
    options: Options,
    result: BatchResult,
  ): Promise<void> {
    const suffix = queryOf(options.query);
    const requests = ids.map((id) => ({
      method: operation.method,
      path: fillPath(operation.path, parameters(resource, { ...options, id })) + suffix,
      ...(body === undefined ? {} : { body }),
    }));
    const answer = await this.http.request(this.http.boot.batch, { method: "POST", body: { requests }, signal: options.signal });
    readBatch(ids, answer.data, result);
  }

  private async single(
    resource: Resource,
    name: OperationName,
    id: Id,
    body: Item | undefined,
    options: Options,
    result: BatchResult,
  ): Promise<void> {
    try {
      const answer = await this.call<Item>(resource, name, { ...options, id, body });
      result.done.push({ id, item: answer.data });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      result.failed.push({ id, failure: error });
    }
  }

  private page(answer: Answer<unknown>): Page {
    const number = (name: string): number | null => {
      const told = answer.headers.get(`X-${this.http.boot.prefix}-${name}`);
      return told === null ? null : Number(told);
    };
    const link = answer.headers.get("Link");
    const next = linkParameter(link, "next", "_cursor");
    const items = Array.isArray(answer.data) ? answer.data : isObject(answer.data) ? Object.values(answer.data) : [];
    const more = /rel="?next"?/.test(link ?? "");
    return { items: items.filter(isObject), total: number("Total"), pages: number("TotalPages"), next, more };
  }
}

/** The value that selects every state: all names where the argument is a list, else the word for all. */
export function everyState(resource: Resource, status: Schema | undefined): string | string[] {
  if (status === undefined || !typesOf(status).includes("array")) return "all";
  const taken = status.items?.enum;
  return taken === undefined ? resource.states : resource.states.filter((state) => taken.includes(state));
}

/** Reads the envelopes of a batch: each belongs to the id at its place. */
export function readBatch(ids: readonly Id[], data: unknown, result: BatchResult): void {
  const responses = isObject(data) && Array.isArray(data["responses"]) ? data["responses"] : [];
  ids.forEach((id, place) => {
    const response: unknown = responses[place];
    const status = isObject(response) && typeof response["status"] === "number" ? response["status"] : 0;
    const body = isObject(response) ? response["body"] : null;
    if (status >= 200 && status < 400) result.done.push({ id, item: isObject(body) ? body : {} });
    else result.failed.push({ id, failure: new Failure(status === 0 ? 502 : status, body) });
  });
}

/** Whether an operation exists and takes an argument. */
export function argument(resource: Resource, name: OperationName, arg: string): boolean {
  return resource.operations[name]?.args.includes(arg) ?? false;
}

/** The value that names a record in paths. */
export function idOf(resource: Resource, item: Item): Id {
  const value = resource.key === null ? null : item[resource.key];
  return typeof value === "number" || typeof value === "string" ? value : "";
}

/** Lists of the resource ask again. */
function changed<T>(resource: Resource, value: T): T {
  touched(resource.name);
  return value;
}

/** WordPress leaves a title as it is that is sent as `{raw: ""}`; a text by itself empties it. */
export function withEmptyTexts(body: unknown): unknown {
  if (!isObject(body)) return body;
  const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 1 && value["raw"] === "";
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, isEmpty(value) ? "" : value]));
}

function operationOf(resource: Resource, name: OperationName): Operation {
  const operation = resource.operations[name];
  if (operation === undefined) throw new Failure(403, { code: "rest_forbidden", message: `${resource.label}: ${name}` });
  return operation;
}

function parameters(resource: Resource, options: CallOptions): Params {
  const { id } = options;
  const own = resource.key === null || id === undefined || id === null ? {} : { [resource.key]: id };
  return { ...own, ...options.params };
}

function one(answer: Answer<Item>): One {
  const allow = (answer.headers.get("Allow") ?? "").split(/,\s*/).filter((method) => method !== "");
  return { item: answer.data, etag: answer.headers.get("ETag"), allow };
}

function append(form: FormData, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) for (const item of value) append(form, `${name}[]`, item);
  else if (isObject(value)) for (const [inner, item] of Object.entries(value)) append(form, `${name}[${inner}]`, item);
  else form.append(name, String(value));
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < all.length; start += size) parts.push(all.slice(start, start + size));
  return parts;
}


function queryOf(query: Query | undefined): string {
  const encoded = encodeQuery(query ?? {});
  return encoded === "" ? "" : `?${encoded}`;
}
