/** Pictures beside each other. */

import type { JSX } from "preact";
import { useRowKeys } from "./keys";
import { Media } from "./list";
import { RowActions, SelectBox, Title } from "./parts";
import type { LayoutProps } from "./types";

/** So many facts fit under a picture. */
const FACTS = 2;

export function GridLayout(props: LayoutProps): JSX.Element {
  const keys = useRowKeys(props);
  return (
    <ul class="record-grid" aria-label={props.label}>
      {props.rows.map((row, place) => (
        <li key={row.id} class="tile" {...keys.props(row, place)} data-selected={props.selected.has(String(row.id))}>
          <div class="tile-media">
            <Media row={row} props={props} />
            <SelectBox row={row} props={props} />
          </div>
          <div class="tile-body">
            <Title row={row} />
            <dl class="record-facts">
              {props.columns.slice(0, FACTS).map((column) => (
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
