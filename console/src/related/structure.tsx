/**
 * Records of a tree with an order, such as the items of a menu: moved by mouse and by keys, and saved together.
 *
 * The order is a draft until somebody saves it. Every move has a key and a button; what happened is announced.
 */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { type Id, idOf, type Item } from "../api/adapter";
import { updateEach } from "../api/batch";
import { touched, versionOf } from "../api/changes";
import type { Resource } from "../api/description";
import type { Query } from "../api/query";
import { t } from "../i18n";
import { labelOf } from "../model/record";
import { guardLeaving, href, places } from "../router";
import { announce, Button, confirmed, Empty, Failed, Icon, Skeleton, toast } from "../ui";
import { useLoad } from "../ui/hooks";
import { AddReference, takesReferences } from "./add-reference";
import { CreateDialog } from "./create";
import { changesOf, placed, rowsOf, type Step, stepped, type TreeNode, type TreeRow, type Where } from "./tree";
import "./related.css";

export interface StructureProps {
  resource: Resource;
  /** Selects the records of the tree. */
  query: Query;
  /** What a new record of the tree has. */
  preset: Item;
  fields: { order: string; parent: string };
  /** Name of the whole. */
  label: string;
}

const PAGE = 100;
const MOST_PAGES = 10;
const NONE = 0;

/** The records, and whether there are more than a tree shows. */
async function loadAll({ resource, query, fields }: StructureProps, signal: AbortSignal): Promise<{ items: Item[]; cut: boolean }> {
  const args = resource.operations["list"]?.args ?? [];
  const sort = resource.fields[fields.order]?.sort;
  const whole: Query = { ...query, per_page: PAGE, context: args.includes("context") ? "edit" : undefined, ...(sort === undefined ? {} : { orderby: sort, order: "asc" }) };
  const { adapter } = api();
  const first = await adapter.list(resource, whole, { signal });
  const more = Math.min(first.pages ?? 1, MOST_PAGES) - 1;
  const rest = await Promise.all(Array.from({ length: Math.max(0, more) }, (_, place) => adapter.list(resource, { ...whole, page: place + 2 }, { signal })));
  const all = [first, ...rest];
  return { items: all.flatMap((page) => page.items), cut: all.at(-1)?.more === true };
}

function nodesOf({ resource, fields }: StructureProps, items: readonly Item[]): TreeNode[] {
  return items.map((item) => {
    const parent = item[fields.parent];
    const position = item[fields.order];
    return { id: idOf(resource, item), parent: typeof parent === "number" && parent !== NONE ? parent : typeof parent === "string" && parent !== "" ? parent : null, position: typeof position === "number" ? position : 0 };
  });
}

export function Structure(props: StructureProps): JSX.Element {
  const { resource } = props;
  const loaded = useLoad((signal) => loadAll(props, signal), [resource, JSON.stringify(props.query), versionOf(resource.name)]);
  if (loaded.error !== null) return <Failed error={loaded.error} onRetry={loaded.reload} />;
  if (loaded.data === undefined) return <Skeleton lines={4} />;
  return <Tree {...props} {...loaded.data} />;
}

/** What somebody has moved, over what is saved; records that were added meanwhile stay where they are. */
function overlaid(saved: readonly TreeNode[], draft: readonly TreeNode[] | null): TreeNode[] {
  const moved = new Map((draft ?? []).map((node) => [String(node.id), node]));
  return saved.map((node) => moved.get(String(node.id)) ?? node);
}

function Tree(props: StructureProps & { items: Item[]; cut: boolean }): JSX.Element {
  const { resource, items, fields, cut } = props;
  const saved = useMemo(() => nodesOf(props, items), [items]);
  const [draft, setDraft] = useState<TreeNode[] | null>(null);
  const [busy, setBusy] = useState(false);
  const nodes = useMemo(() => overlaid(saved, draft), [saved, draft]);
  const changes = changesOf(saved, nodes);
  // Once it is saved, what others change is seen again.
  const before = useRef(saved);
  useEffect(() => {
    if (before.current !== saved && changes.length === 0) setDraft(null);
    before.current = saved;
  }, [saved]);
  const guard = useRef(false);
  guard.current = changes.length > 0;
  useEffect(() => guardLeaving(() => guard.current), []);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const each = changes.map((change) => ({
        id: change.id,
        values: { ...(change.changed.parent ? { [fields.parent]: change.parent ?? NONE } : {}), ...(change.changed.position ? { [fields.order]: change.position } : {}) },
      }));
      const { failed } = await updateEach(api(), resource, each);
      if (failed[0] === undefined) toast.done(t("people.order_saved"));
      else toast.failed(failed[0].failure);
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      {cut && <p class="notice">{t("people.order_cut", { count: items.length })}</p>}
      {items.length === 0 ? <Empty title={t("people.none")} icon={resource.icon} /> : <Rows {...props} nodes={nodes} onMove={cut ? null : setDraft} />}
      <div class="row">
        {resource.operations["create"] !== undefined && <Add {...props} last={Math.max(0, ...nodes.map((node) => node.position))} />}
        <span class="spread" />
        {changes.length > 0 && (
          <>
            <span class="soft" role="status">
              {t("people.order_changed")}
            </span>
            <Button onClick={() => setDraft(null)}>{t("people.order_back")}</Button>
            <Button kind="primary" icon="save" busy={busy} onClick={() => void save()}>
              {t("people.order_save")}
            </Button>
          </>
        )}
      </div>
      {items.length > 1 && !cut && <p class="field-help">{t("people.order_keys")}</p>}
    </div>
  );
}

interface RowsProps extends StructureProps {
  items: Item[];
  nodes: TreeNode[];
  /** Null: some are not there, and their places would not fit. */
  onMove: ((nodes: TreeNode[]) => void) | null;
}

interface Drop {
  id: Id;
  where: Where;
}

function Rows(props: RowsProps): JSX.Element {
  const { resource, items, nodes, label, onMove } = props;
  const list = useRef<HTMLOListElement>(null);
  const [dragged, setDragged] = useState<Id | null>(null);
  const [over, setOver] = useState<Drop | null>(null);
  const known = useMemo(() => new Map(items.map((item) => [String(idOf(resource, item)), item])), [items]);
  const nameOf = (id: Id): string => labelOf(resource, known.get(String(id)) ?? {}, () => `${resource.singular} ${id}`);
  const take = (next: TreeNode[] | null, id: Id): void => {
    if (next === null) return announce(t("people.not_moved", { name: nameOf(id) }));
    onMove?.(next);
    const row = rowsOf(next).find((one) => one.id === id);
    if (row !== undefined) announce(placeText(row, nameOf));
  };
  const move = (id: Id, step: Step): void => {
    take(stepped(nodes, id, step), id);
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-handle="${CSS.escape(String(id))}"]`)?.focus());
  };
  return (
    <ol ref={list} class="structure" aria-label={label}>
      {rowsOf(nodes).map((row) => (
        <li
          key={row.id}
          class="structure-row"
          data-dragged={dragged === row.id}
          data-drop={over !== null && over.id === row.id ? over.where : undefined}
          style={{ "--level": String(Math.min(row.level, 8)) }}
          onDragOver={(event) => {
            if (dragged === null) return;
            const where = whereIn(event, event.currentTarget);
            if (placed(nodes, dragged, row.id, where) === null) return setOver(null);
            event.preventDefault();
            setOver({ id: row.id, where });
          }}
          onDrop={(event) => {
            if (dragged === null || over === null) return;
            event.preventDefault();
            take(placed(nodes, dragged, over.id, over.where), dragged);
            setOver(null);
          }}
        >
          {onMove !== null && <Handle row={row} name={nameOf(row.id)} nameOf={nameOf} onMove={(step) => move(row.id, step)} onDrag={(on) => (setDragged(on ? row.id : null), setOver(null))} />}
          <a class="structure-name" href={href(places.item(resource.name, row.id))}>
            {nameOf(row.id)}
          </a>
          <span class="soft structure-kind">{kindOf(known.get(String(row.id)))}</span>
          {onMove !== null && <Moves row={row} name={nameOf(row.id)} onMove={(step) => move(row.id, step)} />}
          {resource.operations["delete"] !== undefined && <Remove resource={resource} id={row.id} name={nameOf(row.id)} />}
        </li>
      ))}
    </ol>
  );
}

/** What the record stands for, where it says so. */
function kindOf(item: Item | undefined): string {
  const label = item?.["type_label"];
  return typeof label === "string" ? label : "";
}

function placeText(row: TreeRow, nameOf: (id: Id) => string): string {
  const place = { name: nameOf(row.id), place: row.place + 1, count: row.beside, level: row.level + 1 };
  return row.parent === null ? t("people.place", place) : t("people.place_in", { ...place, parent: nameOf(row.parent) });
}

/** The upper third is before the record, the lower third after it, the middle inside. */
function whereIn(event: DragEvent, row: HTMLElement): Where {
  const box = row.getBoundingClientRect();
  const part = (event.clientY - box.top) / Math.max(1, box.height);
  return part < 0.33 ? "before" : part > 0.67 ? "after" : "inside";
}

interface HandleProps {
  row: TreeRow;
  name: string;
  nameOf: (id: Id) => string;
  onMove: (step: Step) => void;
  onDrag: (on: boolean) => void;
}

function Handle({ row, name, nameOf, onMove, onDrag }: HandleProps): JSX.Element {
  const key = (event: KeyboardEvent): void => {
    const rtl = getComputedStyle(event.currentTarget as Element).direction === "rtl";
    const steps: Record<string, Step> = { ArrowUp: "up", ArrowDown: "down", ArrowRight: rtl ? "out" : "in", ArrowLeft: rtl ? "in" : "out" };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    onMove(step);
  };
  return (
    <button
      type="button"
      class="button button-quiet button-icon button-small structure-handle"
      data-handle={row.id}
      draggable
      aria-label={t("people.move", { name, where: placeText(row, nameOf) })}
      title={t("people.order_keys")}
      onKeyDown={key}
      onDragStart={(event) => {
        event.dataTransfer?.setData("text/plain", name);
        const line = event.currentTarget.closest("li");
        if (line !== null) event.dataTransfer?.setDragImage(line, 0, 0);
        onDrag(true);
      }}
      onDragEnd={() => onDrag(false)}
    >
      <Icon name="drag" size={16} />
    </button>
  );
}

function Moves({ row, name, onMove }: { row: TreeRow; name: string; onMove: (step: Step) => void }): JSX.Element {
  const steps: [Step, string, boolean][] = [
    ["up", "chevron-up", row.place > 0],
    ["down", "chevron-down", row.place < row.beside - 1],
    ["out", "chevron-left", row.parent !== null],
    ["in", "chevron-right", row.place > 0],
  ];
  return (
    <span class="structure-moves">
      {steps.map(([step, icon, possible]) => (
        <Button key={step} kind="quiet" small icon={icon} label={t(`people.step_${step}`, { name })} disabled={!possible} onClick={() => onMove(step)} />
      ))}
    </span>
  );
}

function Remove({ resource, id, name }: { resource: Resource; id: Id; name: string }): JSX.Element {
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t("people.remove_question", { name }), action: t("people.remove"), danger: true }))) return;
    const force = resource.operations["delete"]?.args.includes("force") === true;
    try {
      await api().adapter.remove(resource, id, { query: force ? { force: true } : {} });
    } catch (error) {
      toast.failed(error);
    }
  };
  return <Button kind="quiet" small icon="trash" label={t("ui.remove", { name })} onClick={() => void remove()} />;
}

function Add(props: StructureProps & { last: number }): JSX.Element {
  const { resource, preset, fields, last } = props;
  const [open, setOpen] = useState(false);
  const values = { ...preset, [fields.order]: last + 1 };
  return (
    <>
      {takesReferences(resource) && <AddReference resource={resource} preset={values} />}
      <Button icon="add" onClick={() => setOpen(true)}>
        {resource.labels["add_new_item"] ?? t("people.new", { name: resource.singular })}
      </Button>
      {open && (
        <CreateDialog
          resource={resource}
          params={{}}
          preset={values}
          hidden={[...Object.keys(preset), fields.order, fields.parent]}
          onClose={() => setOpen(false)}
          onCreated={() => {
            setOpen(false);
            touched(resource.name);
          }}
        />
      )}
    </>
  );
}
