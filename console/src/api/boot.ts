/** What the page knows before the first request: the data block that the server writes into it. */

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
