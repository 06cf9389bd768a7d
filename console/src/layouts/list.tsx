/** Records below each other, each with its description: for what is read, such as messages. */

import type { JSX } from "preact";
import { Shown } from "../displays";
import { valueAt } from "../model/record";
import { Icon } from "../ui";
import { useRowKeys } from "./keys";
import { RowActions, SelectBox, Title } from "./parts";
import type { LayoutProps, Row } from "./types";

export function ListLayout(props: LayoutProps): JSX.Element {
  const keys = useRowKeys(props);
  return (
    <ul class="record-list" aria-label={props.label}>
      {props.rows.map((row, place) => (
        <li key={row.id} class="record" {...keys.props(row, place)} data-selected={props.selected.has(String(row.id))}>
          <SelectBox row={row} props={props} />
          <Media row={row} props={props} />
          <div class="record-body">
            <Title row={row} />
            <Description row={row} props={props} />
            <dl class="record-facts">
              {props.columns.map((column) => (
                <div key={column.field}>
                  <dt class="hidden-visually">{column.label}</dt>
                  <dd>{props.cell(row, column)}</dd>
                </div>
              ))}
            </dl>
          </div>
          <RowActions row={row} props={props} />
        </li>
      ))}
    </ul>
  );
}

function Description({ row, props }: { row: Row; props: LayoutProps }): JSX.Element | null {
  const field = props.resource.view.default_view.descriptionField;
  if (field === undefined || field === "") return null;
  const hints = props.resource.fields[field] ?? {};
  return (
    <p class="record-text">
      <Shown value={valueAt(row.item, field)} item={row.item} field={field} resource={props.resource} hints={hints} schema={{ properties: { rendered: {} } }} />
    </p>
  );
}

export function Media({ row, props }: { row: Row; props: LayoutProps }): JSX.Element | null {
  const field = props.resource.view.default_view.mediaField;
  if (field === undefined || field === "") return null;
  const value = valueAt(row.item, field);
  const own = props.resource.fields[field];
  const hints = { ...own, display: own?.display ?? "image" };
  const none = value === 0 || value === null || value === undefined || value === "";
  // Where records have no picture of their own, one that is missing leaves no gap in a list.
  if (none && own?.relation !== undefined && props.view.layout !== "grid") return null;
  if (none) {
    return (
      <span class="record-media">
        <Icon name={props.resource.icon} size={24} />
      </span>
    );
  }
  return (
    <span class="record-media">
      <Shown value={value} item={row.item} field={field} resource={props.resource} hints={hints} schema={{}} />
    </span>
  );
}
