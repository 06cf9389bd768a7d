/** Parts that layouts share. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { t } from "../i18n";
import { href } from "../router";
import { Button, Icon, Menu } from "../ui";
import type { LayoutProps, Row } from "./types";

export function SelectBox({ row, props }: { row: Row; props: LayoutProps }): JSX.Element | null {
  if (!props.selectable) return null;
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
  const chosen = props.rows.filter((row) => props.selected.has(String(row.id))).length;
  return (
    <label class="select-box">
      <input
        type="checkbox"
        aria-label={t("lists.select_all")}
        checked={chosen > 0 && chosen === props.rows.length}
        indeterminate={chosen > 0 && chosen < props.rows.length}
        onChange={(event) => props.onSelect(props.rows.map((row) => row.id), event.currentTarget.checked)}
      />
    </label>
  );
}

export function Title({ row }: { row: Row }): JSX.Element {
  if (row.path === null) return <span class="row-title">{row.title}</span>;
  return (
    <a class="row-title" href={href(row.path)}>
      {row.title}
    </a>
  );
}

/** Menus are many and rarely used: each is made when somebody goes near it. */
export function RowActions({ row, props }: { row: Row; props: LayoutProps }): JSX.Element {
  const [near, setNear] = useState(false);
  const label = t("lists.actions", { name: row.title });
  const come = (): void => setNear(true);
  return (
    <span class="row-actions">
      {props.quick(row).map((action) => (
        <Button key={action.name} small kind="quiet" icon={action.icon} aria-label={`${action.label}: ${row.title}`} onClick={action.run}>
          {action.label}
        </Button>
      ))}
      {near ? (
        <Menu small label={label} icon="more" items={props.menu(row)} />
      ) : (
        <button type="button" class="button button-quiet button-small button-icon" aria-label={label} aria-haspopup="menu" onPointerEnter={come} onFocus={come}>
          <Icon name="more" size={16} />
        </button>
      )}
    </span>
  );
}
