/**
 * What properties stand for in the contract: the title of a record, its state, its date. Names of properties are part
 * of the contract; names of resources are not.
 */

import type { Description, FieldHints, Resource } from "../api/description";
import { isObject, isSchema, typesOf, type JsonSchema } from "./json-schema";

export const STATE = "status";
export const TITLE = "title";
export const NAME = "name";
export const CONTENT = "content";
export const EXCERPT = "excerpt";
export const FEATURED = "featured_media";
export const SLUG = "slug";
export const DATE = "date";
export const MODIFIED = "modified";
export const PASSWORD = "password";
export const AUTHOR = "author";
export const PARENT = "parent";
export const LINK = "link";

/** A feature of a resource by which its content is edited visually. */
const EDITOR = "editor";
/** A feature of a resource whose records stand for files. */
const FILES = "files";

/** The title of a record is one of these, in this order. */
const TITLES = [TITLE, NAME, "label"];

/** The property that names a record for people; null where none does. */
export function titleName(resource: Resource, properties: Record<string, JsonSchema>): string | null {
  const declared = resource.view.default_view.titleField;
  if (declared !== undefined && Object.hasOwn(properties, declared)) {
    return declared;
  }
  return TITLES.find((name) => Object.hasOwn(properties, name)) ?? null;
}

/** What a record is called. */
export function titleOf(record: Record<string, unknown>, name: string | null): string {
  const value = name === null ? undefined : record[name];
  const text = isObject(value) ? (value["raw"] ?? value["rendered"]) : value;
  return typeof text === "string" ? text.trim() : "";
}

/** `date_gmt` repeats `date` in UTC. Forms show the first. */
export function isTwin(name: string, properties: Record<string, JsonSchema>): boolean {
  return name.endsWith("_gmt") && Object.hasOwn(properties, name.slice(0, -4));
}

export function supportsFiles(resource: Resource): boolean {
  return resource.supports.includes(FILES);
}

/** The declared hints, and those that follow from the features of the resource. What is declared wins. */
export function hintsOf(resource: Resource, description: Description, properties: Record<string, JsonSchema>): Record<string, FieldHints> {
  const hints: Record<string, FieldHints> = { ...resource.fields };
  const people = peopleOf(description);
  if (people !== null && properties[AUTHOR] !== undefined && hints[AUTHOR]?.relation === undefined && typesOf(properties[AUTHOR]).includes("integer")) {
    hints[AUTHOR] = { ...hints[AUTHOR], relation: { resources: [people], many: false } };
  }
  if (resource.hierarchical && hints[PARENT]?.relation === undefined && properties[PARENT] !== undefined && typesOf(properties[PARENT]).includes("integer")) {
    hints[PARENT] = { ...hints[PARENT], relation: { resources: [resource.name], many: false } };
  }
  for (const name of Object.keys(properties)) {
    const declared = hints[name] ?? {};
    const control = declared.control ?? derivedControl(name, properties[name] ?? {}, declared, resource, description);
    hints[name] = control === undefined ? declared : { ...declared, control };
  }
  return hints;
}

/** Whoever writes one kind of record writes the others: where one says what its authors are, it holds for all. */
function peopleOf(description: Description): string | null {
  const relations = description.resources.map((resource) => resource.fields[AUTHOR]?.relation?.resources[0]);
  return relations.find((name) => description.resources.some((resource) => resource.name === name)) ?? null;
}

function derivedControl(name: string, schema: JsonSchema, hints: FieldHints, resource: Resource, description: Description): string | undefined {
  if (hints.relation !== undefined) {
    const [name, another] = hints.relation.resources;
    if (name === undefined || another !== undefined) {
      return undefined;
    }
    const target = description.resources.find((other) => other.name === name);
    if (target !== undefined && supportsFiles(target)) {
      return "file";
    }
    return hints.relation.many && resource.taxonomies.includes(name) ? "terms" : undefined;
  }
  const wrapped = isSchema(schema.properties?.["raw"]);
  switch (name) {
    case STATE:
      return resource.states.length > 0 && typesOf(schema).includes("string") ? "state" : undefined;
    case CONTENT:
      return wrapped && resource.supports.includes(EDITOR) ? "markup" : wrapped ? "multi-line" : undefined;
    case TITLE:
      return wrapped || resource.supports.includes(TITLE) ? "headline" : undefined;
    case SLUG:
      return "slug";
    case PASSWORD:
      return "password";
    case "meta":
      return "meta";
    default:
      return wrapped ? "multi-line" : undefined;
  }
}
