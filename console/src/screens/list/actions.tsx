/** What can be done with one record of a list. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, findResource, findState } from "../../api";
import type { Id, Item } from "../../api/adapter";
import { touched } from "../../api/changes";
import type { Resource } from "../../api/description";
import { t } from "../../i18n";
import type { QuickAction, Row } from "../../layouts";
import { directOperations, duplicates, removal, removalArguments, restoring, settable, targets } from "../../model/actions";
import { begun } from "../../model/begun";
import { moderated, requestName } from "../../model/list-states";
import { addLabel } from "../../model/naming";
import { humanName } from "../../model/record";
import type { ListView } from "../../model/view-state";
import { places } from "../../router";
import { href } from "../../router";
import { lazy } from "../../shell/lazy";
import { confirmed, type MenuItem, toast } from "../../ui";
import type { ListingProps } from "./listing";
import type { RemovalProps } from "./removal";

const RemovalDialog = lazy<RemovalProps>(async () => (await import("./removal")).RemovalDialog);

export interface Actions {
  selectable: boolean;
  menu: (row: Row) => MenuItem[];
  quick: (row: Row) => QuickAction[];
  /** A deletion that needs more than a yes. */
  asked: { rows: Row[]; done: () => void } | null;
  answer: () => void;
  props: ListingProps;
}

export function useActions(props: ListingProps & { view: ListView }): Actions {
  const [asked, setAsked] = useState<Actions["asked"]>(null);
  const { resource, schema, states } = props;
  const updatable = settable(resource, schema.args["update"] ?? {}).length > 0 || states.length > 0;
  const selectable = resource.operations["delete"] !== undefined || (resource.operations["update"] !== undefined && updatable);
  const remove = (row: Row): void => void removed(props, row, () => setAsked({ rows: [row], done: () => setAsked(null) }));
  return {
    selectable,
    menu: (row) => [...opening(resource, row), ...(row.fixed === true ? [] : [...changing(props, row), ...running(props, row), ...leaving(props, row, remove)])],
    quick: (row) => (moderated(states) && row.fixed !== true ? verdicts(props, row) : []),
    asked,
    answer: () => setAsked(null),
    props,
  };
}

/** The dialog of a deletion that needs more than a yes. */
export function Questions({ actions }: { actions: Actions }): JSX.Element | null {
  if (actions.asked === null) return null;
  return <RemovalDialog {...actions.props} rows={actions.asked.rows} onClose={actions.answer} onDone={actions.answer} />;
}

function opening(resource: Resource, row: Row): MenuItem[] {
  const items: MenuItem[] = [];
  if (row.path !== null) {
    const reads = resource.operations["update"] === undefined || row.fixed === true;
    items.push({ name: "open", label: t(reads ? "lists.open" : "lists.edit"), icon: reads ? "eye" : "edit", href: href(row.path) });
  }
  const link = row.item["link"];
  if (typeof link === "string" && /^https?:/.test(link)) items.push({ name: "view", label: t("lists.view_on_site"), icon: "external", href: link });
  if (resource.supports.includes("revisions") && resource.operations["revisions"] !== undefined && row.fixed !== true) {
    items.push({ name: "versions", label: t("lists.versions"), icon: "clock", href: href(places.part(resource.name, row.id, "revisions")) });
  }
  if (duplicates(resource) && row.fixed !== true) {
    items.push({ name: "duplicate", label: t("lists.duplicate"), icon: "copy", href: href(`${places.create(resource.name)}?copy=${encodeURIComponent(row.id)}`) });
  }
  for (const [name, fill] of Object.entries(resource.creates ?? {})) {
    const target = findResource(name);
    if (target?.operations["create"] === undefined) continue;
    items.push({ name: `create-${name}`, label: addLabel(target), icon: target.icon, href: href(begun(name, fill, row.item)) });
  }
  for (const child of api().description.resources) {
    if (child.parent?.resource !== resource.name || child.operations["list"] === undefined) continue;
    items.push({ name: `child-${child.name}`, label: child.label, icon: child.icon, href: href(places.children(resource.name, row.id, child.name)) });
  }
  return items;
}

function stateOf(resource: Resource, row: Row): string | null {
  const value = row.item["status"];
  return typeof value === "string" ? (findState(resource, value)?.name ?? value) : null;
}

function changing(props: ListingProps, row: Row): MenuItem[] {
  const { resource, states, schema } = props;
  const present = stateOf(resource, row);
  if (states.find((state) => state.name === present)?.trash === true) {
    const to = restoring(resource, states);
    return to === null ? [] : [{ name: "restore", label: t("lists.restore"), icon: "restore", separated: true, onSelect: () => void changed(props, row, to) }];
  }
  return targets(resource, states, present, schema.args["update"] ?? {}).map((state, place) => ({
    name: `state-${state.name}`,
    label: t("lists.to_state", { name: state.label }),
    separated: place === 0,
    onSelect: () => void changed(props, row, requestName(state, schema.args["update"]?.["status"])),
  }));
}

/** The states that a record is put into with one press. */
function verdicts(props: ListingProps, row: Row): QuickAction[] {
  const { resource, states, schema } = props;
  const present = stateOf(resource, row);
  const trashed = states.find((state) => state.name === present)?.trash === true;
  if (trashed) return [];
  return targets(resource, states, null, schema.args["update"] ?? {}).map((state) => ({
    name: state.name,
    label: state.label,
    pressed: state.name === present,
    run: () => void changed(props, row, requestName(state, schema.args["update"]?.["status"])),
  }));
}

async function changed({ resource, params }: ListingProps, row: Row, state: string): Promise<void> {
  const before = row.item["status"];
  try {
    const { item } = await api().adapter.update(resource, row.id, { status: state }, { params });
    const label = findState(resource, String(item["status"]))?.label ?? state;
    const undo = typeof before === "string" && findState(resource, before)?.trash !== true ? (findState(resource, before)?.names[0] ?? before) : null;
    const action = undo === null ? undefined : { label: t("ui.undo"), run: () => void revert({ resource, params, id: row.id, state: undo }) };
    toast.done(t("lists.state_changed", { name: row.title, state: label }), action);
  } catch (error) {
    toast.failed(error);
  }
}

async function revert(to: { resource: Resource; params: ListingProps["params"]; id: Id; state: string }): Promise<void> {
  try {
    await api().adapter.update(to.resource, to.id, { status: to.state }, { params: to.params });
  } catch (error) {
    toast.failed(error);
  }
}

/** Operations of the resource that need nothing but the record. */
function running(props: ListingProps, row: Row): MenuItem[] {
  return directOperations(props.resource, props.schema.args).map(({ name, body }) => ({
    name: `run-${name}`,
    label: humanName(name),
    onSelect: () => void run(props, name, row, body),
  }));
}

async function run({ resource, params }: ListingProps, name: string, row: Row, body: Item): Promise<void> {
  try {
    await api().adapter.call(resource, name, { id: row.id, params, body });
    touched(resource.name);
    toast.done(t("lists.ran", { action: humanName(name), name: row.title }));
  } catch (error) {
    toast.failed(error);
  }
}

function leaving({ resource, states }: ListingProps, row: Row, remove: (row: Row) => void): MenuItem[] {
  const trashed = states.find((state) => state.name === stateOf(resource, row))?.trash === true;
  const how = removal(resource, states, trashed);
  if (how === null) return [];
  const label = how.kind === "trash" ? t("lists.trash") : t("lists.delete");
  return [{ name: "remove", label, icon: "trash", danger: true, separated: true, onSelect: () => remove(row) }];
}

async function removed(props: ListingProps, row: Row, ask: () => void): Promise<void> {
  const { resource, states, params, schema } = props;
  const trashed = states.find((state) => state.name === stateOf(resource, row))?.trash === true;
  const how = removal(resource, states, trashed);
  if (how === null) return;
  if (how.kind === "delete") {
    if (removalArguments(schema.args["delete"] ?? {}).length > 0) return ask();
    const title = t("lists.delete_question", { name: row.title });
    if (!(await confirmed({ title, text: t("lists.delete_text"), action: t("lists.delete"), danger: true }))) return;
  }
  try {
    await api().adapter.remove(resource, row.id, { params, query: how.query });
    const to = how.kind === "trash" ? restoring(resource, states) : null;
    const back = to === null ? undefined : { label: t("ui.undo"), run: () => void revert({ resource, params, id: row.id, state: to }) };
    toast.done(t(how.kind === "trash" ? "lists.trashed" : "lists.deleted", { name: row.title }), back);
  } catch (error) {
    toast.failed(error);
  }
}
