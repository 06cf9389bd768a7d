/** New records that begin with values of another one: in the address of the form, so that nothing is kept elsewhere. */

import type { Item } from "../api/adapter";
import { places } from "../router";

const FILL = "fill";

/** The address of the form of a new record, whose properties begin with values of another record. */
export function begun(resource: string, fill: Record<string, string>, item: Item): string {
  const values = Object.entries(fill).map(([property, own]) => [property, item[own]]);
  const query = new URLSearchParams({ [FILL]: JSON.stringify(Object.fromEntries(values)) });
  return `${places.create(resource)}?${query}`;
}

/** The values that an address gives: texts, numbers and yes or no. What is none of these is left out. */
export function given(search: string): Map<string, string | number | boolean> {
  const values = new Map<string, string | number | boolean>();
  const text = new URLSearchParams(search).get(FILL);
  if (text === null) return values;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return values;
  }
  if (typeof read !== "object" || read === null) return values;
  for (const [property, value] of Object.entries(read)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") values.set(property, value);
  }
  return values;
}
