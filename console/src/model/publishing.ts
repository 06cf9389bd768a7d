/** What is looked at before a record becomes public: nothing of it prevents that. */

import type { Description } from "../api/description";
import type { Field } from "./fields";
import { CONTENT, FEATURED, TITLE } from "./roles";

export type Lack = { kind: "title" } | { kind: "featured"; field: Field } | { kind: "alt"; count: number } | { kind: "terms"; field: Field };

/** What a record lacks that readers expect. */
export function lacks(fields: Field[], values: Record<string, unknown>, description: Description): Lack[] {
  const found: Lack[] = [];
  const writable = (path: string): Field | undefined => fields.find((field) => field.path === path && !field.readOnly);
  if (writable(TITLE) !== undefined && isEmpty(values[TITLE])) {
    found.push({ kind: "title" });
  }
  const featured = writable(FEATURED);
  if (featured !== undefined && isEmpty(values[FEATURED])) {
    found.push({ kind: "featured", field: featured });
  }
  const content = values[CONTENT];
  const count = typeof content === "string" ? withoutAlt(content) : 0;
  if (count > 0) {
    found.push({ kind: "alt", count });
  }
  for (const field of fields.filter((one) => !one.readOnly && one.relation?.many === true)) {
    const target = description.resources.find((resource) => resource.name === field.relation?.resources[0]);
    // A hierarchy of terms is one that everything is filed in; tags are as somebody likes.
    if (field.control === "terms" && target?.hierarchical === true && isEmpty(values[field.path])) {
      found.push({ kind: "terms", field });
    }
  }
  return found;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === 0 || (typeof value === "string" && value.trim() === "") || (Array.isArray(value) && value.length === 0);
}

/** Images of a text that say nothing to those who do not see them. */
function withoutAlt(html: string): number {
  return (html.match(/<img\b[^>]*>/gi) ?? []).filter((tag) => !/\salt\s*=\s*(?:"[^"]*[^"\s][^"]*"|'[^']*[^'\s][^']*'|[^\s"'>]+)/i.test(tag)).length;
}
