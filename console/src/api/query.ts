/** Arguments as the query of an address. */

export type QueryValue = string | number | boolean | null | undefined | readonly QueryValue[] | { readonly [name: string]: QueryValue };
export type Query = Record<string, QueryValue>;

/** Lists with commas, objects as `where[price][le]=5`. What is undefined or null is left out. */
export function encodeQuery(query: Query): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) add(pairs, name, value);
  return pairs.join("&");
}

function add(pairs: string[], name: string, value: QueryValue): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== undefined && item !== null);
    // A text with a comma would be read as two.
    if (items.some((item) => typeof item === "object" || String(item).includes(","))) {
      for (const item of items) add(pairs, `${name}[]`, item);
    } else {
      pair(pairs, name, items.join(","));
    }
  } else if (typeof value === "object") {
    for (const [inner, item] of Object.entries(value)) add(pairs, `${name}[${inner}]`, item);
  } else {
    pair(pairs, name, String(value));
  }
}

function pair(pairs: string[], name: string, value: string): void {
  // Brackets are readable as they are, and legal in queries.
  const key = encodeURIComponent(name).replaceAll("%5B", "[").replaceAll("%5D", "]");
  pairs.push(`${key}=${encodeURIComponent(value).replaceAll("%2C", ",")}`);
}

/** A path with its parameters filled in: `{id}` becomes the value. */
export function fillPath(path: string, params: Record<string, string | number>): string {
  return path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`The path ${path} lacks ${name}.`);
    // A name such as "core/paragraph" is two segments.
    return String(value).split("/").map(encodeURIComponent).join("/");
  });
}

/** The value of a parameter in the address that a `Link` header has for a relation. */
export function linkParameter(header: string | null, rel: string, parameter: string): string | null {
  for (const part of (header ?? "").split(/,\s*(?=<)/)) {
    const match = /^<([^>]*)>\s*;(.*)$/.exec(part.trim());
    if (match === null || !new RegExp(`rel="?${rel}"?(\\s*;|\\s*$)`).test(match[2] ?? "")) continue;
    return new URL(match[1] ?? "", "http://localhost").searchParams.get(parameter);
  }
  return null;
}
