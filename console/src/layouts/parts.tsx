/** Parts that layouts share. */

import type { JSX } from "preact";
import { t } from "../i18n";
import { href } from "../router";
import { Button, Icon, Menu } from "../ui";
import type { LayoutProps, Row } from "./types";

export function SelectBox({ row, props }: { row: Row; props: LayoutProps }): JSX.Element | null {
  if (!props.selectable || row.fixed === true) return null;
  return (
    <label class="select-box">
      <input
        type="checkbox"
        checked={props.selected.has(String(row.id))}
        aria-label={t("lists.select", { name: row.title })}
        onChange={(event) => props.onSelect([row.id], event.currentTarget.checked)}
      />
    </label>
  );
}

export function SelectAll({ props }: { props: LayoutProps }): JSX.Element | null {
  if (!props.selectable) return null;
  const rows = props.rows.filter((row) => row.fixed !== true);
  const chosen = rows.filter((row) => props.selected.has(String(row.id))).length;
  if (rows.length === 0) return null;
  return (
    <label class="select-box">
      <input
        type="checkbox"
        aria-label={t("lists.select_all")}
        checked={chosen > 0 && chosen === rows.length}
        indeterminate={chosen > 0 && chosen < rows.length}
        onChange={(event) => props.onSelect(rows.map((row) => row.id), event.currentTarget.checked)}
      />
    </label>
  );
}

export function Title({ row }: { row: Row }): JSX.Element {
  const opened = row.openedBy === undefined ? null : (
    <span class="badge badge-calm row-opened">
      <Icon name="user" size={14} />
      {row.openedBy}
      <span class="hidden-visually"> {t("lists.has_open")}</span>
    </span>
  );
  if (row.path === null) return <span class="row-title">{row.title}</span>;
  return (
    <>
      <a class="row-title" href={href(row.path)}>
        {row.title}
      </a>
      {opened}
    </>
  );
}

export function RowActions({ row, props }: { row: Row; props: LayoutProps }): JSX.Element {
  const quick = props.quick(row);
  return (
    <span class="row-actions">
      {quick.length > 0 && (
        <span class="switch-states" role="group" aria-label={t("lists.state_of", { name: row.title })}>
          {quick.map((action) => (
            <Button key={action.name} small kind="quiet" aria-pressed={action.pressed} onClick={() => action.pressed || action.run()}>
              {action.label}
            </Button>
          ))}
        </span>
      )}
      <Menu small label={t("lists.actions", { name: row.title })} icon="more" items={() => props.menu(row)} />
    </span>
  );
}
