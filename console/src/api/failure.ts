/** How a request fails. */

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
    super(typeof told["message"] === "string" ? told["message"] : `HTTP ${status}`);
    this.name = "Failure";
    this.status = status;
    this.code = typeof told["code"] === "string" ? told["code"] : `http_${status}`;
    this.data = isObject(told["data"]) ? told["data"] : {};
    this.params = messages(this.data["params"], this.message);
    this.details = isObject(this.data["details"]) ? this.data["details"] : {};
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
    super("The server does not respond.", { cause });
    this.name = "NetworkFailure";
  }
}

/** Whether an error is that a request was no longer wanted. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function messages(params: unknown, message: string): Record<string, string> {
  // Absent arguments are a list of names.
  if (Array.isArray(params)) return Object.fromEntries(params.map((name) => [String(name), message]));
  if (!isObject(params)) return {};
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, String(text)]));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
