
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

/** What a stream of events takes. */
export interface EventsRequest extends EventFilter {
  /** The id of the last event that is known: what came after it is sent first. Without it, the stream begins with what happens now. */
  after?: number;
  /** Seconds without a sign of life, after which a connection counts as broken. Default: 60; the server sends one every 15. */
  silence?: number;
  /** It ends the stream. */
  signal?: AbortSignal;
}

/** The position is not known to the server any more: what was read before may be out of date, so read it again. */
export interface EventReset {
  type: "reset";
  /** The id of the newest event; what comes after it is sent next. */
  id: number;
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

  /**
   * Changes as they come, as far as the user may read what has changed. A connection that ends or fails is opened again after
   * growing pauses, and resumes after the last event. The stream ends with the signal; a {@link Failure} is thrown where
   * the server refuses it.
   */
  async *events(request: EventsRequest = {}): AsyncGenerator<SiteEvent | EventReset, void, void> {
    const { signal, silence = 60, ...query } = request;
    const ended = (): boolean => signal?.aborted === true;
    let [pause, failures] = [FIRST_PAUSE, 0];
    while (!ended()) {
      const connection = new Connection(signal, silence * 1000);
      let least = 0;
      try {
        const headers = new Headers({ accept: STREAM });
        const sent = this.once("GET", this.address(EVENTS, query), headers, undefined, connection.signal);
        const response = await connection.heard(sent);
        if (isTemporary(response.status)) {
          least = Number(response.headers.get("retry-after")) * 1000 || 0;
          await response.body?.cancel();
        } else {
          for await (const message of messagesOf(await streamOf(response), connection)) {
            failures = 0;
            query.after = message.id ?? query.after;
            pause = message.retry ?? pause;
            if (message.name === "reset") {
              yield { type: "reset", id: (JSON.parse(message.data) as EventReset).id };
            } else if (message.name === "message" && message.data !== "") {
              yield JSON.parse(message.data) as SiteEvent;
            }
          }
        }
      } catch (error) {
        if (error instanceof Failure) {
          throw error;
        }
        // The connection failed: another one resumes.
      } finally {
        connection.end();
      }
      if (!ended()) {
        // Clients that lost their server at once do not come back at once.
        const grown = Math.min(pause * 2 ** failures, LONGEST_PAUSE) * (0.75 + Math.random() / 4);
        await paused(Math.max(grown, Math.min(least, LONGEST_PAUSE)), signal);
        failures += 1;
      }
    }
  }

  private send(operation: Operation, request: Loose): Promise<Answer<unknown> | NotModified> {
    const { method, url, headers, body } = this.prepared(operation, request);
    return this.fetched(method, url, headers, body, request.signal);
  }

  private prepared(operation: Operation, request: Loose): Prepared {
    const { method, path, form } = OPERATIONS[operation];
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(request.params?.[name])));
    const query = { ...request.query };
    if (request.fields !== undefined) {
      query["_fields"] = request.fields;
    }
    if (request.embed !== undefined) {
      query["_embed"] = request.embed === true ? "1" : request.embed;
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
    return { method, url: this.address(filled, query), headers, body };
  }

  private address(path: string, query: object): string {
    const url = new URL(this.options.base.replace(/\/$/, "") + path);
    for (const [name, value] of Object.entries(query)) {
      append(url.searchParams, name, value);
    }
    return url.href;
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
    const { retries = 3 } = this.options;
    for (let attempt = 0; ; attempt += 1) {
      const response = await this.once(method, url, headers, body, signal);
      if (attempt < retries && (await isWorthAnother(response))) {
        const seconds = Number(response.headers.get("retry-after")) || 1;
        await new Promise((done) => setTimeout(done, Math.min(seconds, 60) * 1000));
        continue;
      }
      return response;
    }
  }

  /** A request with the credentials, sent once. */
  private once(
    method: string,
    url: string,
    headers: Headers,
    body: string | FormData | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const { credentials, fetch = globalThis.fetch } = this.options;
    if (credentials !== undefined) {
      const pair = new TextEncoder().encode(`${credentials.user}:${credentials.password}`);
      headers.set("authorization", `Basic ${btoa(String.fromCharCode(...pair))}`);
    }
    return fetch(url, { method, headers, ...(body && { body }), ...(signal && { signal }) });
  }
}

/** Media type of a stream of events. */
const STREAM = "text/event-stream";

/** The pause before a stream is opened again, where the server names none, and the longest one; in milliseconds. */
const FIRST_PAUSE = 2000;
const LONGEST_PAUSE = 60_000;

/** A connection that ends with the caller's signal, or when the server is silent for too long. */
class Connection {
  private readonly controller = new AbortController();
  private readonly stop = (): void => this.controller.abort();

  constructor(private readonly caller: AbortSignal | undefined, private readonly silence: number) {
    caller?.addEventListener("abort", this.stop);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Waits for the server, no longer than it may be silent. */
  async heard<T>(answer: Promise<T>): Promise<T> {
    const timer = setTimeout(this.stop, this.silence);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.caller?.removeEventListener("abort", this.stop);
    this.stop();
  }
}

/** A message of a stream. */
interface Message {
  name: string;
  data: string;
  /** The position behind it. */
  id?: number;
  /** The pause that the server wants before the stream is opened again, in milliseconds. */
  retry?: number;
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

/** A response that is a stream; throws a {@link Failure} where it is none. */
async function streamOf(response: Response): Promise<Response> {
  if (!response.ok) {
    await answered(response);
  }
  if (!response.headers.get("content-type")?.startsWith(STREAM)) {
    await response.body?.cancel();
    throw new Failure(response.status, "no_stream", "The service has no stream of events.", null);
  }
  return response;
}

/** The service may answer another time. */
function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** A pause that ends early with the signal. */
function paused(time: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, time);
    signal?.addEventListener("abort", end);
  });
}

/** The messages of a stream (Server-Sent Events). Some have no data, only the position. */
async function* messagesOf(response: Response, connection: Connection): AsyncGenerator<Message, void, void> {
  let message: Message = { name: "message", data: "" };
  for await (const row of rowsOf(response, (read) => connection.heard(read))) {
    const [field, value] = fieldOf(row);
    if (row === "") {
      yield message;
      message = { name: "message", data: "" };
    } else if (field === "event") {
      message.name = value;
    } else if (field === "data") {
      message.data += message.data === "" ? value : `\n${value}`;
    } else if (field === "id" && /^\d+$/.test(value)) {
      message.id = Number(value);
    } else if (field === "retry" && /^\d+$/.test(value)) {
      message.retry = Number(value);
    }
  }
}

/** A line of a stream: the name of a field, and its value. */
function fieldOf(row: string): [field: string, value: string] {
  const at = row.indexOf(":");
  return at < 0 ? [row, ""] : [row.slice(0, at), row.slice(at + 1).replace(/^ /, "")];
}

/** The lines of a body that are not empty, as they arrive. */
async function* linesOf(response: Response): AsyncGenerator<string, void, void> {
  for await (const row of rowsOf(response, (read) => read)) {
    if (row !== "") {
      yield row;
    }
  }
}

/** The lines of a body, as they arrive; `heard` waits for each part of it. */
async function* rowsOf(
  response: Response,
  heard: <T>(read: Promise<T>) => Promise<T>,
): AsyncGenerator<string, void, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    return;
  }
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await heard(reader.read());
      const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
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
