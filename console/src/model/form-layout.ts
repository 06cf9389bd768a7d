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
export const GROUPS = ["state", "address", "people", "place", "terms", "picture", "discussion", "details", "readOnly", "values"] as const;
export type GroupId = (typeof GROUPS)[number];

export function arrange(resource: Resource, fields: Field[], text: (group: GroupId) => string, isNew: boolean): Arrangement {
  const shown = fields.filter((field) => isShown(field, fields, isNew));
  const { form } = resource.view;
  if (isGrouped(form)) {
    return withRest(declaredForm(form, shown, text), shown, text);
  }
  return derivedForm(resource, listed(form, shown), text);
}

/** A plain list of names says which fields there are, and not where. */
function isGrouped(form: Form): boolean {
  return (form.fields ?? []).some((entry) => typeof entry !== "string" && (entry.children !== undefined || entry.layout !== undefined));
}

/** The fields that a plain list names, in its order, and what can only be read. */
function listed(form: Form, fields: Field[]): Field[] {
  const names = (form.fields ?? []).map((entry) => (typeof entry === "string" ? entry : entry.id));
  if (names.length === 0) {
    return fields;
  }
  const named = names.map((name) => fields.find((field) => field.path === name)).filter((field) => field !== undefined);
  return [...named, ...fields.filter((field) => field.readOnly && !named.includes(field))];
}

/** What can only be read stands at the end, folded. */
function withRest(arrangement: Arrangement, fields: Field[], text: (group: GroupId) => string): Arrangement {
  const taken = new Set(fieldsIn([...arrangement.main, ...arrangement.side]).map((field) => field.path));
  const rest = fields.filter((field) => field.readOnly && isReadable(field) && !taken.has(field.path));
  return rest.length === 0 ? arrangement : withFold(arrangement, readOnlyGroup(rest, text));
}

/** A column for what is folded alone would be empty. */
function withFold({ main, side }: Arrangement, fold: Group): Arrangement {
  return side.length === 0 ? { main: [...main, fold], side } : { main, side: [...side, fold] };
}

function readOnlyGroup(fields: Field[], text: (group: GroupId) => string): Group {
  return { id: "readOnly", label: text("readOnly"), help: "", layout: "details", children: fields.map((field) => ({ field })) };
}

/** Twins in UTC say nothing new, and an object without members has nothing to set; what the server computes is shown once there is a record. */
function isShown(field: Field, fields: Field[], isNew: boolean): boolean {
  const properties = Object.fromEntries(fields.map((other) => [other.path, other.schema]));
  if (isTwin(field.path, properties)) {
    return false;
  }
  return !(isNew && field.readOnly) && !(field.kind === "object" && field.children.length === 0);
}

// ---------------------------------------------------------------- declared

function declaredForm(form: Form, fields: Field[], text: (group: GroupId) => string): Arrangement {
  const layout = layoutOf(form.layout?.type, "regular");
  const taken = new Set<string>();
  const places = (form.fields ?? []).map((entry) => placeOf(entry, { fields, layout, taken, text })).filter((place) => place !== null);
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

interface Declared {
  fields: Field[];
  /** Of groups that do not say theirs. */
  layout: GroupLayout;
  taken: Set<string>;
  text: (group: GroupId) => string;
}

function placeOf(entry: FormField, around: Declared): Place | null {
  const { id, ...own } = typeof entry === "string" ? { id: entry } : entry;
  if (own.children !== undefined && own.children.length > 0) {
    return groupOfEntry({ id, ...own, children: own.children }, around);
  }
  const field = around.fields.find((one) => one.path === id);
  if (field === undefined || around.taken.has(id)) {
    return null;
  }
  around.taken.add(id);
  const named = { ...field, label: own.label ?? field.label, help: own.description ?? field.help };
  const layout = layoutOf(own.layout?.type, "regular");
  return layout === "regular" || layout === "row" ? { field: named } : { id, label: named.label, help: "", layout, children: [{ field: named }] };
}

function groupOfEntry(entry: Exclude<FormField, string> & { children: FormField[] }, around: Declared): Group | null {
  const layout = layoutOf(entry.layout?.type, around.layout);
  const children = entry.children.map((child) => placeOf(child, { ...around, layout: "regular" })).filter((place) => place !== null);
  if (children.length === 0) {
    return null;
  }
  const known = GROUPS.find((name) => name === entry.id);
  const label = known === undefined ? (entry.label ?? "") : around.text(known);
  return { id: entry.id, label, help: entry.description ?? "", layout, children: entry.id === "state" ? stateFirst(children) : children };
}

/** Whoever looks at the state of a record looks for the state itself. */
function stateFirst(places: Place[]): Place[] {
  const isState = (place: Place): boolean => "field" in place && place.field.control === "state";
  return [...places.filter(isState), ...places.filter((place) => !isState(place))];
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

const SIDE_ORDER: GroupId[] = ["state", "address", "terms", "picture", "people", "place", "discussion", "details"];

function derivedForm(resource: Resource, fields: Field[], text: (group: GroupId) => string): Arrangement {
  const properties = Object.fromEntries(fields.map((field) => [field.path, field.schema]));
  const title = titleName(resource, properties);
  const withStates = resource.states.length > 0;
  // Of a record that can only be read, everything is as it is for others.
  const changes = fields.some((field) => !field.readOnly);
  const main: Field[] = [];
  const groups: Partial<Record<GroupId, Field[]>> = {};
  const put = (group: GroupId, field: Field): void => {
    (groups[group] ??= []).push(field);
  };
  for (const field of fields) {
    if (field.path === title && (!changes || !field.readOnly)) {
      main.unshift(field);
    } else if (field.readOnly && (changes || field.schema.readonly === true)) {
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
  const readable = groups.readOnly ?? [];
  const side = SIDE_ORDER.filter((id) => groups[id] !== undefined && groups[id].length > 0).map(
    (id): Group => ({ id, label: text(id), help: "", layout: "panel", children: stateFirst((groups[id] ?? []).map((field) => ({ field }))) }),
  );
  const arrangement = { main: inOrder(main, title).map((field) => ({ field })), side };
  return readable.length === 0 ? arrangement : withFold(arrangement, readOnlyGroup(readable, text));
}

function groupOf(field: Field, withStates: boolean): GroupId | null {
  if (field.control === "terms") {
    return "terms";
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

/** Fields of a singleton in groups: declared, else plain values together and each object for itself. */
export function arrangeSingleton(resource: Resource, fields: Field[], text: (group: GroupId) => string): Group[] {
  const { form } = resource.view;
  if (isGrouped(form)) {
    const arrangement = declaredForm(form, fields, text);
    const taken = new Set(fieldsIn([...arrangement.main, ...arrangement.side]).map((field) => field.path));
    const rest = fields.filter((field) => !taken.has(field.path));
    const last: Group[] = rest.length === 0 ? [] : [{ id: "details", label: text("details"), help: "", layout: "card", children: rest.map((field) => ({ field })) }];
    return [...grouped(arrangement, text), ...last];
  }
  const shown = listed(form, fields);
  const own = shown.filter((field) => field.kind !== "object");
  const objects = shown.filter((field) => field.kind === "object");
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
