
/** What a request may bring: parameters of the path and the query, a body, and what it is conditional on. */
export type RequestOf<O extends Operation> =
  & ({} extends Operations[O]["params"] ? { params?: Operations[O]["params"] } : { params: Operations[O]["params"] })
  & ({} extends Operations[O]["query"] ? { query?: Operations[O]["query"] } : { query: Operations[O]["query"] })
  & (undefined extends Operations[O]["body"] ? { body?: Operations[O]["body"] } : { body: Operations[O]["body"] })
  & {
    /** Members that the response contains; its type has those alone. */
    fields?: readonly string[];
    /** Relations whose documents are embedded; `true` embeds all that can be. */
    embed?: readonly string[] | true;
    /** The entity tag of the document that is to be changed: 412 if it has another one by now. */
    ifMatch?: string;
    /** The entity tag of a response that is at hand: the answer is `notModified` if it is still the same. */
    ifNoneMatch?: string;
    signal?: AbortSignal;
  };

/** The context that a request asks for. */
type ContextIn<O extends Operation, R> =
  "any" extends ContextOf<O> ? "any"
  : R extends { query: { context: infer C } } ? Extract<C, ContextOf<O>>
  : "view" extends ContextOf<O> ? "view" : ContextOf<O>;

/** What a request is answered with. */
export type DataOf<O extends Operation, R> =
  R extends { fields: readonly (infer F)[] }
    ? Selected<Operations[O]["response"][ContextIn<O, R> & ContextOf<O>], F & string>
    : Operations[O]["response"][ContextIn<O, R> & ContextOf<O>];

/** A response. */
export interface Answer<T> {
  status: number;
  data: T;
  /** The entity tag, for `ifMatch` and `ifNoneMatch`. */
  etag: string | null;
  /** How many documents and pages a collection has. */
  total: number | null;
  pages: number | null;
  headers: Headers;
}

/** A response that has not changed. */
export interface NotModified {
  status: 304;
  notModified: true;
}

/** An error of the server. */
export class Failure extends Error {
  constructor(readonly status: number, readonly code: ErrorCode | (string & {}), message: string, readonly data: unknown) {
    super(message);
    this.name = "Failure";
  }
}

/** What became of a document that was imported. */
export interface Imported {
  /** Its place among the documents, from 0. */
  position: number;
  status: number;
  result: "created" | "updated" | "unchanged" | "failed";
  id?: number | string;
  /** Properties whose references lead to nothing yet. */
  deferred?: string[];
  error?: { code: string; message: string; data?: unknown };
}

/** How the client reaches the service. */
export interface ClientOptions {
  /** Address of the REST base, such as `https://example.org/cms-json`. */
  base: string;
  /** A login name and an application password. */
  credentials?: { user: string; password: string };
  /** Attempts after 429 and 503, with the pause that the server names. Default: 3. */
  retries?: number;
  fetch?: typeof globalThis.fetch;
}

/** Calls operations by name. */
export class Client {
  constructor(readonly options: ClientOptions) {}

  /** Sends a request; throws a {@link Failure} where the server answers with an error. */
  async call<O extends Operation, const R extends RequestOf<O>>(operation: O, request: R): Promise<Answer<DataOf<O, R>>> {
    const answer = await this.send(operation, request);
    if ("notModified" in answer) {
      throw new Failure(304, "not_modified", "The response has not changed.", null);
    }
    return answer as Answer<DataOf<O, R>>;
  }

  /** The same with `ifNoneMatch`: a response that has not changed is no error. */
  async refresh<O extends Operation, const R extends RequestOf<O> & { ifNoneMatch: string }>(
    operation: O,
    request: R,
  ): Promise<Answer<DataOf<O, R>> | NotModified> {
    return (await this.send(operation, request)) as Answer<DataOf<O, R>> | NotModified;
  }

  /** All pages of a collection, as the `Link` headers lead to them. */
  async *pages<O extends Operation, const R extends RequestOf<O>>(
    operation: O,
    request: R,
  ): AsyncGenerator<Answer<DataOf<O, R>>, void, void> {
    let answer = await this.call(operation, request);
    for (;;) {
      yield answer;
      const next = /<([^>]*)>;\s*rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
      if (next === undefined) {
        return;
      }
      answer = (await this.fetched("GET", this.own(next), new Headers(), undefined, request.signal)) as Answer<DataOf<O, R>>;
    }
  }

  /** All documents of a collection. */
  async *items<O extends Operation, const R extends RequestOf<O>>(
    operation: O,
    request: R,
  ): AsyncGenerator<DataOf<O, R> extends (infer One)[] ? One : never, void, void> {
    for await (const page of this.pages(operation, request)) {
      for (const one of page.data as unknown[]) {
        yield one as DataOf<O, R> extends (infer One)[] ? One : never;
      }
    }
  }

  /** A whole collection, past the limit of a page, each document when it arrives. The user needs the right to export. */
  async *lines<O extends ExportOperation, const R extends RequestOf<O>>(
    operation: O,
    request: R,
  ): AsyncGenerator<DataOf<O, R> extends (infer One)[] ? One : never, void, void> {
    const { method, url, headers } = this.prepared(operation, request);
    headers.set("accept", LINES);
    for await (const line of linesOf(await this.opened(method, url, headers, undefined, (request as Loose).signal))) {
      yield JSON.parse(line) as DataOf<O, R> extends (infer One)[] ? One : never;
    }
  }

  /**
   * Sends documents in lines, a thousand in a request, and tells what becomes of each. Only those of one request are held
   * in memory.
   */
  async *import<O extends ImportOperation>(
    operation: O,
    documents: Iterable<object> | AsyncIterable<object>,
    request: RequestOf<O>,
  ): AsyncGenerator<Imported, void, void> {
    const { method, url, headers } = this.prepared(operation, request);
    headers.set("content-type", LINES);
    let position = 0;
    for await (const { count, text } of batchesOf(documents)) {
      const response = await this.opened(method, url, headers, text, (request as Loose).signal);
      for await (const line of linesOf(response)) {
        const result = JSON.parse(line) as Imported;
        // A full request ends with the place at which another one would go on.
        if (result.position !== undefined) {
          yield { ...result, position: result.position + position };
        }
      }
      position += count;
    }
  }

  private send(operation: Operation, request: Loose): Promise<Answer<unknown> | NotModified> {
    const { method, url, headers, body } = this.prepared(operation, request);
    return this.fetched(method, url, headers, body, request.signal);
  }

  private prepared(operation: Operation, request: Loose): Prepared {
    const { method, path, form } = OPERATIONS[operation];
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(request.params?.[name])));
    const url = new URL(this.options.base.replace(/\/$/, "") + filled);
    const query = { ...request.query };
    if (request.fields !== undefined) {
      query["_fields"] = request.fields;
    }
    if (request.embed !== undefined) {
      query["_embed"] = request.embed === true ? "1" : request.embed;
    }
    for (const [name, value] of Object.entries(query)) {
      append(url.searchParams, name, value);
    }
    const headers = new Headers();
    if (request.ifMatch !== undefined) {
      headers.set("if-match", request.ifMatch);
    }
    if (request.ifNoneMatch !== undefined) {
      headers.set("if-none-match", request.ifNoneMatch);
    }
    let body: string | FormData | undefined;
    if (request.body !== undefined && form) {
      body = new FormData();
      for (const [name, value] of Object.entries(request.body as Record<string, unknown>)) {
        body.append(name, value instanceof Blob ? value : typeof value === "object" ? JSON.stringify(value) : String(value));
      }
    } else if (request.body !== undefined) {
      headers.set("content-type", "application/json");
      body = JSON.stringify(request.body);
    }
    return { method, url: url.href, headers, body };
  }

  /** Credentials are sent to the service alone, whatever a response links to. */
  private own(address: string): string {
    if (new URL(address).origin !== new URL(this.options.base).origin) {
      throw new Failure(0, "foreign_address", `${address} is not an address of this service.`, null);
    }
    return address;
  }

  private async fetched(
    method: string,
    url: string,
    headers: Headers,
    body: string | FormData | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Answer<unknown> | NotModified> {
    return answered(await this.attempted(method, url, headers, body, signal));
  }

  /** A response that is read as it comes. */
  private async opened(
    method: string,
    url: string,
    headers: Headers,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const response = await this.attempted(method, url, headers, body, signal);
    if (!response.ok) {
      await answered(response);
    }
    return response;
  }

  private async attempted(
    method: string,
    url: string,
    headers: Headers,
    body: string | FormData | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const { credentials, retries = 3, fetch = globalThis.fetch } = this.options;
    if (credentials !== undefined) {
      const pair = new TextEncoder().encode(`${credentials.user}:${credentials.password}`);
      headers.set("authorization", `Basic ${btoa(String.fromCharCode(...pair))}`);
    }
    for (let attempt = 0; ; attempt += 1) {
      const response = await fetch(url, { method, headers, ...(body && { body }), ...(signal && { signal }) });
      if (attempt < retries && (await isWorthAnother(response))) {
        const seconds = Number(response.headers.get("retry-after")) || 1;
        await new Promise((done) => setTimeout(done, Math.min(seconds, 60) * 1000));
        continue;
      }
      return response;
    }
  }
}

/** Media type of JSON documents in lines. */
const LINES = "application/x-ndjson";

/** Most documents, and characters of them, in a request. */
const MOST_DOCUMENTS = 1000;
const MOST_CHARACTERS = 4 << 20;

/** What is sent. */
interface Prepared {
  method: string;
  url: string;
  headers: Headers;
  body: string | FormData | undefined;
}

/** A request without the types of its operation. */
interface Loose {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  fields?: readonly string[];
  embed?: readonly string[] | true;
  ifMatch?: string;
  ifNoneMatch?: string;
  signal?: AbortSignal;
}

/** The server is busy. Where it does not know whether a change was made, nothing is sent again. */
async function isWorthAnother(response: Response): Promise<boolean> {
  if (response.status !== 429 && response.status !== 503) {
    return false;
  }
  const error = (await response.clone().json().catch(() => ({}))) as { code?: string };
  return error.code !== "rest_outcome_unknown";
}

async function answered(response: Response): Promise<Answer<unknown> | NotModified> {
  if (response.status === 304) {
    return { status: 304, notModified: true };
  }
  const mediaType = response.headers.get("content-type") ?? "";
  const isJson = mediaType.includes("json") && !mediaType.includes(LINES);
  const data: unknown = isJson ? await response.json() : await response.blob();
  if (!response.ok) {
    const error = data as { code?: string; message?: string; data?: unknown };
    throw new Failure(response.status, error.code ?? "unknown", error.message ?? response.statusText, error.data);
  }
  const number = (end: string): number | null => {
    const found = [...response.headers].find(([name]) => name.endsWith(end));
    return found === undefined ? null : Number(found[1]);
  };
  const { status, headers } = response;
  return { status, data, etag: headers.get("etag"), total: number("-total"), pages: number("-totalpages"), headers };
}

/** The lines of a body, as they arrive. */
async function* linesOf(response: Response): AsyncGenerator<string, void, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    return;
  }
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines.filter((line) => line !== "");
      if (done) {
        break;
      }
    }
    if (rest !== "") {
      yield rest;
    }
  } finally {
    await reader.cancel();
  }
}

/** Documents as the bodies of requests. */
async function* batchesOf(
  documents: Iterable<object> | AsyncIterable<object>,
): AsyncGenerator<{ count: number; text: string }, void, void> {
  let [count, text] = [0, ""];
  for await (const document of documents) {
    [count, text] = [count + 1, `${text}${JSON.stringify(document)}\n`];
    if (count === MOST_DOCUMENTS || text.length >= MOST_CHARACTERS) {
      yield { count, text };
      [count, text] = [0, ""];
    }
  }
  if (count > 0) {
    yield { count, text };
  }
}

/** Lists are written with brackets, so that a comma in a value separates nothing; objects by their members. */
function append(target: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null) {
    return;
  }
  if (Array.isArray(value)) {
    value.forEach((one) => append(target, `${name}[]`, one));
  } else if (typeof value === "object") {
    Object.entries(value).forEach(([member, one]) => append(target, `${name}[${member}]`, one));
  } else {
    target.append(name, String(value));
  }
}
