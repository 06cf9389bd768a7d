/** How a request fails. */

import { t } from "../i18n";
import { errorText } from "../i18n/errors";

/** The server refused. `params` has a message for each argument that is at fault. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  /** Messages by name of the argument. */
  readonly params: Record<string, string>;
  /** What the server says of each argument, by its name. */
  readonly details: Record<string, unknown>;
  readonly data: Record<string, unknown>;

  constructor(status: number, body: unknown) {
    const told = isObject(body) ? body : {};
    const code = typeof told["code"] === "string" ? told["code"] : `http_${status}`;
    const message = typeof told["message"] === "string" ? told["message"] : `HTTP ${status}`;
    const data = isObject(told["data"]) ? told["data"] : {};
    super(errorText(code, message, data) ?? message);
    this.name = "Failure";
    this.status = status;
    this.code = code;
    this.data = data;
    this.details = isObject(data["details"]) ? data["details"] : {};
    this.params = Object.fromEntries(Object.entries(paramsOf(this)).map(([name, said]) => [name, paramText(this, name, said) ?? said]));
  }

  /** Somebody else has changed the record. */
  get conflict(): boolean {
    return this.status === 412;
  }

  get notFound(): boolean {
    return this.status === 404 || this.status === 410;
  }

  get forbidden(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** No response: the network, or the server, is not there. Whether a change was made is unknown. */
export class NetworkFailure extends Error {
  constructor(cause: unknown) {
    super(t("shell.unreachable"), { cause });
    this.name = "NetworkFailure";
  }
}

/** Whether an error is that a request was no longer wanted. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The body of an error: `{code, message, data}`. */
export interface ServerError {
  code: string;
  message: string;
  data?: unknown;
}

/** What the server says of each argument. `params` is an object of messages, or a list of names that are missing. */
export function paramsOf(error: ServerError): Record<string, string> {
  const params = isObject(error.data) ? error.data["params"] : null;
  if (Array.isArray(params)) return Object.fromEntries(params.map((name) => [String(name), error.message]));
  if (!isObject(params)) return {};
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, String(text)]));
}

/** What is wrong with an argument, in the language of the page; null: there is only what the server says. */
export function paramText(error: ServerError, name: string, said: string): string | null {
  const data = isObject(error.data) ? error.data : {};
  if (Array.isArray(data["params"])) return errorText("rest_property_required", said);
  const detail = isObject(data["details"]) ? data["details"][name] : null;
  if (isObject(detail)) return errorText(detail["code"], said);
  const sentence = errorText(said.replace(/\d+/g, "{number}"), said);
  if (sentence !== null) return sentence;
  // One error for one argument, such as a value that another record has.
  return error.code === "rest_invalid_param" ? null : errorText(error.code, said, data);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
