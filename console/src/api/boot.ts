/** What the page knows before the first request: the data block that the server writes into it. */

import type { Description } from "./description";

/** The answer to a request that the page makes first: it came with the page. */
export interface Brought {
  /** Below the base. */
  path: string;
  query: Record<string, string>;
  headers: [string, string][];
  body: unknown;
}

export interface Boot {
  /** Path of the API, such as "/cms-json". */
  base: string;
  /** "cms" or "wp"; names of headers contain it. */
  prefix: string;
  /** Path of the console, such as "/admin". */
  path: string;
  nonce_url: string | null;
  nonce_header: string;
  /** As it is sent; the page has it masked, because a compressed page would tell of it by its size. */
  nonce: string | null;
  login_url: string;
  logout_url: string;
  profile_url: string;
  /** Where people set up their own second factors. */
  factors_url: string;
  explorer_url: string | null;
  /** Path of the batch below the base. */
  batch: string;
  /** Id of the user who is logged in. */
  user: number;
  user_name?: string;
  /** Absent where it could not be made: it is asked for. */
  description?: Description | null;
  /** Language of the description's texts; absent: that of the declarations. */
  language?: string;
  /** Answers to first requests, such as that of the list that the address names. */
  answers?: Brought[];
}

const PREFIX = "cms";
const DEFAULTS: Boot = {
  base: `/${PREFIX}-json`,
  prefix: PREFIX,
  path: "/admin",
  nonce_url: null,
  nonce_header: "X-CMS-Nonce",
  nonce: null,
  login_url: "/login",
  logout_url: "/logout",
  profile_url: "/profile",
  factors_url: "/second-factor",
  explorer_url: null,
  batch: "/batch/v1",
  user: 0,
};

/** The data block of a document; a member that it lacks has its default. */
export function readBoot(page: ParentNode): Boot {
  const block = page.querySelector("script#boot");
  const told = (block === null ? {} : JSON.parse(block.textContent ?? "{}")) as Partial<Boot>;
  return { ...DEFAULTS, ...told, nonce: unmasked(told.nonce ?? null) };
}

/** Random bytes, then the text with these bytes added (XOR), all as two digits. */
function unmasked(masked: string | null): string | null {
  if (masked === null) return null;
  const half = masked.length / 2;
  const byte = (at: number): number => Number.parseInt(masked.slice(at, at + 2), 16);
  let text = "";
  for (let at = 0; at < half; at += 2) text += String.fromCharCode(byte(at) ^ byte(half + at));
  return text;
}
