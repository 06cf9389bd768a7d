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
  nonce: string | null;
  login_url: string;
  logout_url: string;
  profile_url: string;
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
  explorer_url: null,
  batch: "/batch/v1",
  user: 0,
};

/** The data block of a document; a member that it lacks has its default. */
export function readBoot(page: ParentNode): Boot {
  const block = page.querySelector("script#boot");
  const told: unknown = block === null ? {} : JSON.parse(block.textContent ?? "{}");
  return { ...DEFAULTS, ...(told as Partial<Boot>) };
}
