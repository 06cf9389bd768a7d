/** Rows and columns; with levels it is a tree. On narrow screens each row is a card. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { t } from "../i18n";
import { displayOf } from "../displays/choice";
import { labelOfField, plainText, titleField, valueAt } from "../model/record";
import { Button, Icon } from "../ui";
import { further, type RowKeys, useRowKeys } from "./keys";
import { RowActions, SelectAll, SelectBox, Title } from "./parts";
import type { Column, LayoutProps, Row } from "./types";

export function TableLayout(props: LayoutProps): JSX.Element {
  const keys = useRowKeys(props);
  const tree = props.tree !== undefined;
  return (
    <div class="table-frame">
      <table class="table" role={tree ? "treegrid" : "table"} aria-label={props.label}>
        <thead role="rowgroup">
          <tr role="row">
            {props.selectable && (
              <th role="columnheader" scope="col" class="cell-select">
                <SelectAll props={props} />
              </th>
            )}
            <Head props={props} column={titleColumn(props)} />
            {props.columns.map((column) => (
              <Head key={column.field} props={props} column={column} />
            ))}
            <th role="columnheader" scope="col" class="cell-actions">
              <span class="hidden-visually">{t("lists.actions_column")}</span>
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {props.rows.map((row, place) =>
            row.more === undefined ? (
              <TableRow key={row.id} row={row} place={place} props={props} keys={keys} />
            ) : (
              <MoreRow key={row.id} row={row} more={row.more} place={place} props={props} keys={keys} />
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Texts with more letters get some width. */
const LONG = 40;

/** The column of the title: it can be sorted by what names records. */
function titleColumn({ resource }: LayoutProps): Column {
  const field = titleField(resource) ?? "";
  const hints = resource.fields[field] ?? {};
  return { field, label: field === "" ? t("lists.title") : labelOfField(resource, field), hints, schema: {}, sortable: hints.sort !== undefined };
}

function Head({ props, column }: { props: LayoutProps; column: Column }): JSX.Element {
  const { sort } = props.view;
  const current = sort?.field === column.field ? sort.direction : null;
  const sorted = current === null ? undefined : current === "asc" ? "ascending" : "descending";
  return (
    <th role="columnheader" scope="col" aria-sort={sorted}>
      {column.sortable && props.tree === undefined ? (
        <button type="button" class="sort" onClick={() => props.onSort(column.field)}>
          {column.label}
          <Icon name={current === null ? "sort" : current === "asc" ? "chevron-up" : "chevron-down"} size={14} />
        </button>
      ) : (
        column.label
      )}
    </th>
  );
}

interface TableRowProps {
  row: Row;
  place: number;
  props: LayoutProps;
  keys: RowKeys;
}

function TableRow({ row, place, props, keys }: TableRowProps): JSX.Element {
  const { tree } = props;
  const drag = useDrop(row, props);
  const level = row.level ?? 0;
  const role = tree === undefined ? "cell" : "gridcell";
  return (
    <tr
      role="row"
      class="table-row"
      {...keys.props(row, place)}
      {...drag}
      data-selected={props.selected.has(String(row.id))}
      aria-level={tree === undefined ? undefined : level + 1}
      aria-expanded={row.open ?? undefined}
    >
      {props.selectable && (
        <td role={role} class="cell-select">
          <SelectBox row={row} props={props} />
        </td>
      )}
      <td role={role} class="cell-title">
        <div class={`title-line${tree === undefined ? "" : ` depth-${Math.min(level, 8)}`}`}>
          {tree !== undefined && <Fold row={row} props={props} />}
          <Title row={row} />
        </div>
      </td>
      {props.columns.map((column) => (
        <td
          key={column.field}
          role={role}
          data-label={column.label}
          data-kind={displayOf(props.resource, column.field, column.hints, column.schema)}
          data-long={plainText(valueAt(row.item, column.field)).length > LONG}
        >
          {props.cell(row, column)}
        </td>
      ))}
      <td role={role} class="cell-actions">
        <RowActions row={row} props={props} />
      </td>
    </tr>
  );
}

/** Reads further records of a branch. */
function MoreRow({ row, more, place, props, keys }: TableRowProps & { more: () => Promise<void> }): JSX.Element {
  const level = row.level ?? 0;
  return (
    <tr role="row" class="table-row" {...keys.props(row, place)} aria-level={level + 1}>
      <td role="gridcell" class="cell-title" colSpan={props.columns.length + 2 + Number(props.selectable)}>
        <div class={`title-line depth-${Math.min(level, 8)}`}>
          <span class="fold" />
          <Button small icon="add" busy={row.busy === true} onClick={(event) => void further((event.currentTarget as HTMLElement).closest("tr") ?? document.body, more, place)}>
            {row.title}
          </Button>
        </div>
      </td>
    </tr>
  );
}

function Fold({ row, props }: { row: Row; props: LayoutProps }): JSX.Element {
  if (row.open === null || row.open === undefined) return <span class="fold" />;
  return (
    <Button
      kind="quiet"
      small
      class="fold"
      icon={row.open ? "chevron-down" : "chevron-right"}
      label={t(row.open ? "lists.fold" : "lists.unfold", { name: row.title })}
      onClick={() => props.tree?.toggle(row)}
    />
  );
}

/** The row that is dragged; one at a time. */
let dragged: Row | null = null;

type DragProps = Pick<JSX.IntrinsicElements["tr"], "draggable" | "onDragStart" | "onDragOver" | "onDragLeave" | "onDrop" | "onDragEnd"> & {
  "data-drop": string | undefined;
};

function useDrop(row: Row, props: LayoutProps): Partial<DragProps> {
  const [where, setWhere] = useState<"before" | "inside" | "after" | null>(null);
  const drop = props.tree?.drop ?? null;
  if (drop === null || row.fixed === true) return {};
  return {
    draggable: true,
    "data-drop": where ?? undefined,
    onDragStart: (event) => {
      dragged = row;
      event.dataTransfer?.setData("text/plain", row.title);
    },
    onDragOver: (event) => {
      if (dragged === null || dragged.id === row.id) return;
      event.preventDefault();
      const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
      const share = (event.clientY - box.top) / box.height;
      setWhere(share < 0.3 ? "before" : share > 0.7 ? "after" : "inside");
    },
    onDragLeave: () => setWhere(null),
    onDragEnd: () => (dragged = null),
    onDrop: (event) => {
      event.preventDefault();
      if (dragged !== null && where !== null) drop(dragged, row, where);
      dragged = null;
      setWhere(null);
    },
  };
}
