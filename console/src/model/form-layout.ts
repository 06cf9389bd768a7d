/**
 * The arrangement of a form: what `view.form` says, else what follows from the fields.
 *
 * Derived: the title and the texts are in the main column with the resource's own fields; the state and everything that
 * describes the record stand beside it, in panels.
 */

import type { Form, FormField, Resource } from "../api/description";
import type { Field } from "./fields";
import { CONTENT, DATE, EXCERPT, isTwin, LINK, PASSWORD, SLUG, STATE, titleName } from "./roles";

export type GroupLayout = "regular" | "panel" | "card" | "row" | "details";

/** A place in a form: a field, or a group of places. */
export type Place = { field: Field } | Group;

export interface Group {
  id: string;
  label: string;
  help: string;
  layout: GroupLayout;
  children: Place[];
}

export interface Arrangement {
  main: Place[];
  side: Group[];
}

const LAYOUTS: readonly string[] = ["regular", "panel", "card", "row", "details"];

/** Names of the groups that are derived; the console has texts for them. */
export const GROUPS = ["state", "address", "people", "place", "filing", "picture", "discussion", "more", "readOnly", "values"] as const;
export type GroupId = (typeof GROUPS)[number];

export function arrange(resource: Resource, fields: Field[], text: (group: GroupId) => string, isNew: boolean): Arrangement {
  const shown = fields.filter((field) => isShown(field, fields, isNew));
  const declared = resource.view.form.fields ?? [];
  return declared.length > 0 ? declaredForm(resource.view.form, shown) : derivedForm(resource, shown, text);
}

/** Twins in UTC say nothing new; what the server computes is shown once there is a record. */
function isShown(field: Field, fields: Field[], isNew: boolean): boolean {
  const properties = Object.fromEntries(fields.map((other) => [other.path, other.schema]));
  if (isTwin(field.path, properties)) {
    return false;
  }
  return !(isNew && field.readOnly);
}

// ---------------------------------------------------------------- declared

function declaredForm(form: Form, fields: Field[]): Arrangement {
  const layout = layoutOf(form.layout?.type, "regular");
  const taken = new Set<string>();
  const places = (form.fields ?? []).map((entry) => placeOf(entry, fields, layout, taken)).filter((place) => place !== null);
  const main: Place[] = [];
  const side: Group[] = [];
  for (const place of places) {
    if (!("field" in place) && place.layout === "panel") {
      side.push(place);
    } else {
      main.push(place);
    }
  }
  return { main, side };
}

function placeOf(entry: FormField, fields: Field[], outer: GroupLayout, taken: Set<string>): Place | null {
  const id = typeof entry === "string" ? entry : entry.id;
  const field = fields.find((one) => one.path === id);
  if (typeof entry === "string" || entry.children === undefined || entry.children.length === 0) {
    if (field === undefined || taken.has(id)) {
      return null;
    }
    taken.add(id);
    const named = typeof entry === "string" ? field : { ...field, label: entry.label ?? field.label, help: entry.description ?? field.help };
    const layout = typeof entry === "string" ? outer : layoutOf(entry.layout?.type, outer);
    return layout === "panel" || layout === "card" || layout === "details"
      ? { id, label: named.label, help: "", layout, children: [{ field: named }] }
      : { field: named };
  }
  const layout = layoutOf(entry.layout?.type, outer);
  const children = entry.children.map((child) => placeOf(child, fields, "regular", taken)).filter((place) => place !== null);
  return children.length === 0 ? null : { id, label: entry.label ?? field?.label ?? "", help: entry.description ?? "", layout, children };
}

function layoutOf(type: string | undefined, otherwise: GroupLayout): GroupLayout {
  return type !== undefined && LAYOUTS.includes(type) ? (type as GroupLayout) : otherwise;
}

// ---------------------------------------------------------------- derived

/** Where properties of the contract belong. Others are the resource's own. */
const SIDE: Record<string, GroupId> = {
  [STATE]: "state", [DATE]: "state", [PASSWORD]: "state", sticky: "state",
  [SLUG]: "address", [LINK]: "address", parent: "place", menu_order: "place", template: "place", format: "place", theme: "place",
  author: "people", comment_status: "discussion", ping_status: "discussion",
  featured_media: "picture",
};

const SIDE_ORDER: GroupId[] = ["state", "address", "filing", "picture", "people", "place", "discussion", "more", "readOnly"];

function derivedForm(resource: Resource, fields: Field[], text: (group: GroupId) => string): Arrangement {
  const properties = Object.fromEntries(fields.map((field) => [field.path, field.schema]));
  const title = titleName(resource, properties);
  const withStates = resource.states.length > 0;
  const main: Field[] = [];
  const groups: Partial<Record<GroupId, Field[]>> = {};
  const put = (group: GroupId, field: Field): void => {
    (groups[group] ??= []).push(field);
  };
  for (const field of fields) {
    if (field.path === title && !field.readOnly) {
      main.unshift(field);
    } else if (field.readOnly) {
      if (isReadable(field)) {
        put("readOnly", field);
      }
    } else {
      const group = groupOf(field, withStates);
      if (group === null) {
        main.push(field);
      } else {
        put(group, field);
      }
    }
  }
  const ordered = inOrder(main, title);
  const side = SIDE_ORDER.filter((id) => groups[id] !== undefined && groups[id].length > 0).map(
    (id): Group => ({ id, label: text(id), help: "", layout: "panel", children: (groups[id] ?? []).map((field) => ({ field })) }),
  );
  return { main: ordered.map((field) => ({ field })), side };
}

function groupOf(field: Field, withStates: boolean): GroupId | null {
  if (field.control === "terms") {
    return "filing";
  }
  if (field.control === "file" && field.relation !== null) {
    return "picture";
  }
  const group = withStates || field.path === SLUG || field.path === LINK || field.path === "parent" ? SIDE[field.path] : undefined;
  return group ?? null;
}

/** Nobody reads identifiers of machines; what is left is worth a line. */
function isReadable(field: Field): boolean {
  return field.kind !== "object" && field.kind !== "any" && field.kind !== "map" && field.kind !== "array" && !field.wrapped;
}

/** The title first, then the content, then the excerpt, then the others in their order. */
function inOrder(fields: Field[], title: string | null): Field[] {
  const rank = (field: Field): number => {
    switch (field.path) {
      case title:
        return 0;
      case CONTENT:
        return 1;
      case EXCERPT:
        return 2;
      default:
        return field.control === "meta" || field.control === "json" ? 4 : 3;
    }
  };
  return fields
    .map((field, index) => ({ field, index }))
    .sort((a, b) => rank(a.field) - rank(b.field) || a.index - b.index)
    .map(({ field }) => field);
}

// ---------------------------------------------------------------- singletons

/** Fields of a singleton in groups: declared, else by the first word that several names share. */
export function arrangeSingleton(resource: Resource, fields: Field[], text: (group: GroupId) => string): Group[] {
  const declared = resource.view.form.fields ?? [];
  if (declared.length > 0) {
    return grouped(declaredForm(resource.view.form, fields), text);
  }
  const own = fields.filter((field) => field.kind !== "object");
  const objects = fields.filter((field) => field.kind === "object");
  const groups: Group[] = [];
  if (own.length > 0) {
    groups.push({ id: "values", label: text("values"), help: "", layout: "card", children: own.map((field) => ({ field })) });
  }
  for (const field of objects) {
    groups.push({ id: field.path, label: field.label, help: "", layout: "card", children: [{ field }] });
  }
  return groups;
}

function grouped(arrangement: Arrangement, text: (group: GroupId) => string): Group[] {
  const loose = arrangement.main.filter((place) => "field" in place);
  const groups = arrangement.main.filter((place): place is Group => !("field" in place));
  const first: Group[] = loose.length === 0 ? [] : [{ id: "values", label: text("values"), help: "", layout: "card", children: loose }];
  return [...first, ...groups, ...arrangement.side];
}

/** The fields of a place, in reading order. */
export function fieldsIn(places: Place[]): Field[] {
  return places.flatMap((place) => ("field" in place ? [place.field] : fieldsIn(place.children)));
}
