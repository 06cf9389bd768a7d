/** Where the visitor is: the part of the address below the console's path, through the history of the browser. */

import { computed, signal } from "@preact/signals";
import { t } from "./i18n";

export interface Place {
  /** Below the path of the console: "/" or "/r/NAME". */
  path: string;
  /** The query without its question mark. */
  search: string;
}

let root = "";
const here = signal<Place>({ path: "/", search: "" });

export const place = computed(() => here.value);

/** Whether there is unsaved work. */
type Dirty = () => boolean;
const guards = new Set<Dirty>();

/** Asks before unsaved work is left; returns what takes the question back. */
export function guardLeaving(dirty: Dirty): () => void {
  guards.add(dirty);
  return () => guards.delete(dirty);
}

function unsaved(): boolean {
  return [...guards].some((dirty) => dirty());
}

function mayLeave(): boolean {
  return !unsaved() || confirm(t("shell.unsaved"));
}

/** Starts to follow the address; `path` is where the console is. */
export function startRouter(path: string): void {
  root = path.replace(/\/$/, "");
  here.value = read();
  let shown = location.href;
  addEventListener("popstate", () => {
    if (new URL(shown).pathname !== location.pathname && !mayLeave()) {
      history.pushState(null, "", shown);
      return;
    }
    shown = location.href;
    here.value = read();
  });
  addEventListener("beforeunload", (event) => {
    if (unsaved()) event.preventDefault();
  });
  document.addEventListener("click", followed);
  moved = () => (shown = location.href);
}

let moved: () => void = () => undefined;

function read(): Place {
  const path = location.pathname.startsWith(root) ? location.pathname.slice(root.length) : location.pathname;
  return { path: path === "" ? "/" : path, search: location.search.slice(1) };
}

/** The address of a place of the console, for `href`. */
export function href(path: string): string {
  return `${root}${path === "/" ? "/" : path}`;
}

/** Goes to a place, such as "/r/NAME?state=draft". With `replace`, "back" does not return to the present one. */
export function navigate(to: string, options: { replace?: boolean; force?: boolean } = {}): boolean {
  const [path] = to.split("?", 1);
  if (path !== here.value.path && options.force !== true && !mayLeave()) return false;
  if (options.replace === true) history.replaceState(null, "", href(to));
  else history.pushState(null, "", href(to));
  moved();
  here.value = read();
  return true;
}

/** Plain links within the console change the place without loading the page again. */
function followed(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.origin !== location.origin || link.target !== "" || link.hasAttribute("download")) return;
  if (link.pathname !== root && !link.pathname.startsWith(`${root}/`)) return;
  // A link to a part of the page, such as the one that skips the navigation.
  if (link.hash !== "" && link.pathname === location.pathname) return;
  event.preventDefault();
  navigate((link.pathname.slice(root.length) || "/") + link.search);
}

/** The parameters of a path that has the form of a pattern, such as "/r/:resource/:id"; null if it has another. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.replace(/\/$/, "").split("/");
  if (pattern !== "/" && wanted.length !== given.length) return null;
  if (pattern === "/") return path === "/" ? {} : null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== value) return null;
    } else {
      try {
        params[part.slice(1)] = decodeURIComponent(value);
      } catch {
        return null;
      }
    }
  }
  return params;
}

/** Addresses of the screens. */
export const places = {
  dashboard: (): string => "/",
  list: (resource: string, query = ""): string => `/r/${resource}${query === "" ? "" : `?${query}`}`,
  create: (resource: string): string => `/r/${resource}/new`,
  item: (resource: string, id: string | number): string => `/r/${resource}/${encodeURIComponent(id)}`,
  /** Something of an item, such as its revisions. */
  part: (resource: string, id: string | number, part: string): string => `/r/${resource}/${encodeURIComponent(id)}/${part}`,
  /** A list of records that belong to an item. */
  children: (resource: string, id: string | number, child: string): string =>
    `/r/${resource}/${encodeURIComponent(id)}/in/${child}`,
  assistants: (): string => "/assistants",
  declarations: (): string => "/declarations",
  account: (): string => "/account",
};
