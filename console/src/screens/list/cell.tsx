/** A value of a record in a list; simple ones are changed in place. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Params } from "../../api/adapter";
import type { Resource } from "../../api/description";
import { type Args, typesOf } from "../../api/schema";
import { Shown } from "../../displays";
import { t } from "../../i18n";
import type { Column, Row } from "../../layouts";
import { valueAt } from "../../model/record";
import { lazy } from "../../shell/lazy";
import { Button } from "../../ui";
import type { InlineProps } from "./inline";

/** Controls of forms are not part of the first list. */
const EditValue = lazy<InlineProps>(async () => (await import("./inline")).EditValue);

interface CellProps {
  row: Row;
  column: Column;
  resource: Resource;
  params: Params;
  /** Of the operation that changes records. */
  args: Args;
}

export function Cell(props: CellProps): JSX.Element {
  const { row, column, resource, args } = props;
  const [editing, setEditing] = useState(false);
  const value = valueAt(row.item, column.field);
  const editable = row.fixed !== true && isSimple(resource, column, args);
  return (
    <span class={editable ? "cell-value cell-editable" : "cell-value"}>
      <Shown value={value} item={row.item} field={column.field} resource={resource} hints={column.hints} schema={column.schema} />
      {editable && (
        <Button
          kind="quiet"
          small
          class="cell-edit"
          icon="edit"
          label={t("lists.edit_value", { field: column.label, name: row.title })}
          onClick={() => setEditing(true)}
        />
      )}
      {editing && <EditValue {...props} onClose={() => setEditing(false)} />}
    </span>
  );
}

/** Values of one line can be changed in a list; the rest has its place in the form. */
function isSimple(resource: Resource, column: Column, args: Args): boolean {
  const argument = args[column.field];
  if (argument === undefined || resource.operations["update"]?.args.includes(column.field) !== true) return false;
  if (column.schema.readonly === true) return false;
  const types = typesOf(argument);
  return types.length > 0 && types.every((type) => ["string", "integer", "number", "boolean"].includes(type));
}
