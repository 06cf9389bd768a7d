/**
 * Requests in the name of the session: nonce, retries, errors.
 *
 * A nonce that no longer fits is fetched again, and the request is repeated once. When the session has ended, requests wait
 * until somebody has logged in again, so that nothing that was typed is lost.
 */

import { signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { type Boot, type Brought, readBoot } from "./boot";
import { Failure, NetworkFailure, isAbort, isObject } from "./failure";
import { encodeQuery, type Query } from "./query";

export interface RequestOptions {
  method?: string;
  query?: Query;
  /** A plain object is sent as JSON, a form as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
  /** It is sent even when the page goes away. */
  keepalive?: boolean;
}

export interface Answer<T = unknown> {
  status: number;
  data: T;
  headers: Headers;
}

export interface Http {
  readonly boot: Boot;
  request<T = unknown>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  /** A stream of Server-Sent Events in the name of the session, at the path with a query. */
  events(path: string, query: Query): EventSource;
  /** The session has ended; requests wait. */
  readonly ended: ReadonlySignal<boolean>;
  /** The last request had no response. */
  readonly unreachable: ReadonlySignal<boolean>;
  /** Looks whether somebody has logged in again: the same user, another one, or nobody. */
  resume(): Promise<"same" | "other" | "nobody">;
  /** Requests that wait for a login fail. */
  giveUp(): void;
}

/** What of the browser is used; tests have others. */
export interface Surroundings {
  fetch: typeof fetch;
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

const RETRIES = 3;
const LONGEST_WAIT = 60_000;
const READ_RETRIES = [300, 1200];
/** How long after the start what came with the page is as good as asked for. */
const FRESH = 10_000;

export function createHttp(boot: Boot, around: Surroundings = { fetch: globalThis.fetch.bind(globalThis), wait }): Http {
  return new Session(boot, around);
}

class Session implements Http {
  readonly ended: Signal<boolean> = signal(false);
  readonly unreachable: Signal<boolean> = signal(false);
  private nonce: string | null;
  private renewal: Promise<boolean> | null = null;
  private waiting: { resolve: (again: boolean) => void }[] = [];
  /** Answers that came with the page, each for one request. */
  private brought: Brought[];
  private readonly begun = Date.now();

  constructor(
    readonly boot: Boot,
    private readonly around: Surroundings,
  ) {
    this.nonce = boot.nonce;
    this.brought = boot.answers ?? [];
  }

  async request<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const brought = this.take(path, options);
    if (brought !== null) return brought as Answer<T>;
    let renewed = false;
    for (let attempt = 0; ; attempt++) {
      const answer = await this.sent(path, options);
      if (answer.status < 400) return answer as Answer<T>;
      const failure = new Failure(answer.status, answer.data);
      const nonceAtFault = failure.status === 403 && failure.code === "rest_cookie_invalid_nonce";
      if ((nonceAtFault || failure.status === 401) && !renewed) {
        renewed = true;
        if ((await this.renew()) || (await this.loggedIn(options.signal))) continue;
      }
      const pause = retryAfter(failure, answer.headers);
      if (pause === null || attempt >= RETRIES) throw failure;
      await this.around.wait(pause, options.signal);
    }
  }

  events(path: string, query: Query): EventSource {
    // A stream sends no headers.
    return new EventSource(this.address(path, { ...query, [`_${this.boot.prefix}nonce`]: this.nonce }));
  }

  async resume(): Promise<"same" | "other" | "nobody"> {
    const response = await this.around.fetch(this.boot.path, { credentials: "same-origin", headers: { Accept: "text/html" } });
    if (!response.ok) return "nobody";
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (page.querySelector("script#boot") === null) return "nobody";
    const boot = readBoot(page);
    if (boot.user !== this.boot.user) return "other";
    this.nonce = boot.nonce;
    this.settle(true);
    return "same";
  }

  giveUp(): void {
    this.settle(false);
  }

  /** The answer that came with the page; null: there is none, or something may have changed since. */
  private take(path: string, options: RequestOptions): Answer | null {
    if (this.brought.length === 0 || options.method === "OPTIONS") return null;
    if ((options.method ?? "GET") !== "GET" || Date.now() - this.begun > FRESH) {
      this.brought = [];
      return null;
    }
    const wanted = canonical(options.query ?? {});
    const found = this.brought.find((one) => one.path === path && canonical(one.query) === wanted);
    if (found === undefined) return null;
    this.brought = this.brought.filter((one) => one !== found);
    return { status: 200, data: found.body, headers: new Headers(found.headers) };
  }

  private settle(again: boolean): void {
    this.ended.value = false;
    const waiting = this.waiting;
    this.waiting = [];
    for (const one of waiting) one.resolve(again);
  }

  /** True once somebody has logged in again; false when they gave up. */
  private loggedIn(abort: AbortSignal | undefined): Promise<boolean> {
    this.ended.value = true;
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve });
      abort?.addEventListener("abort", () => reject(abort.reason), { once: true });
    });
  }

  /** A fresh nonce; false: there is no session. Requests that fail at the same time share one look-up. */
  private renew(): Promise<boolean> {
    this.renewal ??= this.freshNonce().finally(() => (this.renewal = null));
    return this.renewal;
  }

  private async freshNonce(): Promise<boolean> {
    if (this.boot.nonce_url === null) return false;
    const response = await this.around.fetch(this.boot.nonce_url, { credentials: "same-origin", cache: "no-store" });
    const nonce = (await response.text()).trim();
    if (!response.ok || nonce === "" || nonce === "0") return false;
    this.nonce = nonce;
    return true;
  }

  /** One request with its repetitions after network failures: only reads are repeated. */
  private async sent(path: string, options: RequestOptions): Promise<Answer> {
    const reads = (options.method ?? "GET") === "GET" || options.method === "OPTIONS";
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await this.send(path, options);
        this.unreachable.value = false;
        this.nonce = answer.headers.get(this.boot.nonce_header) ?? this.nonce;
        return answer;
      } catch (error) {
        if (isAbort(error) || options.signal?.aborted === true) throw error;
        const pause = reads ? READ_RETRIES[attempt] : undefined;
        if (pause === undefined) {
          this.unreachable.value = true;
          throw new NetworkFailure(error);
        }
        await this.around.wait(pause, options.signal);
      }
    }
  }

  private address(path: string, given: Query): string {
    const query = encodeQuery(given);
    return `${this.boot.base}${path}${query === "" ? "" : `${path.includes("?") ? "&" : "?"}${query}`}`;
  }

  private async send(path: string, options: RequestOptions): Promise<Answer> {
    const address = this.address(path, options.query ?? {});
    const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
    if (this.nonce !== null) headers[this.boot.nonce_header] = this.nonce;
    const method = options.method ?? "GET";
    const body = payload(options.body, headers);
    if (options.onProgress !== undefined) return uploaded(address, method, headers, body, options);
    const init: RequestInit = { method, headers, credentials: "same-origin", signal: options.signal ?? null, keepalive: options.keepalive === true };
    if (body !== undefined) init.body = body;
    const response = await this.around.fetch(address, init);
    return { status: response.status, data: parsed(await response.text()), headers: response.headers };
  }
}

function payload(body: unknown, headers: Record<string, string>): FormData | Blob | string | undefined {
  if (body === undefined) return undefined;
  if (body instanceof FormData || body instanceof Blob) return body;
  headers["Content-Type"] ??= "application/json";
  return JSON.stringify(body);
}

/** A query by what it says, whatever the order of its arguments. */
function canonical(query: Query): string {
  const pairs = new URLSearchParams(encodeQuery(query));
  pairs.sort();
  return pairs.toString();
}

/** `fetch` tells nothing of the progress of an upload. */
function uploaded(
  address: string,
  method: string,
  headers: Record<string, string>,
  body: FormData | Blob | string | undefined,
  options: RequestOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => options.onProgress?.(event.loaded, event.total);
    request.onload = () => resolve({ status: request.status, data: parsed(request.responseText), headers: headersOf(request) });
    request.onerror = () => reject(new TypeError("The upload failed."));
    request.onabort = () => reject(new DOMException("The upload was stopped.", "AbortError"));
    options.signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(body ?? null);
  });
}

function headersOf(request: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

function parsed(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** How long to wait before the request is repeated; null: it is not. */
function retryAfter(failure: Failure, headers: Headers): number | null {
  if (failure.status !== 429 && failure.status !== 503) return null;
  // The change may have been made.
  if (failure.code === "rest_outcome_unknown") return null;
  const told = headers.get("Retry-After");
  const seconds = told === null ? Number.NaN : Number(told);
  if (Number.isNaN(seconds)) return failure.status === 503 ? 1000 : null;
  const pause = Math.max(0, seconds) * 1000;
  return pause > LONGEST_WAIT ? null : pause;
}

function wait(ms: number, abort: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    abort?.addEventListener("abort", () => (clearTimeout(timer), reject(abort.reason)), { once: true });
  });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return isObject(error) && typeof error["message"] === "string" ? error["message"] : String(error);
}
