/** A value of a record in a list; simple ones are changed in place. */

import { signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Item, Params } from "../../api/adapter";
import { Failure } from "../../api/failure";
import type { FieldHints, Resource } from "../../api/description";
import { type Args, type Schema, typesOf } from "../../api/schema";
import { Shown } from "../../displays";
import { t } from "../../i18n";
import type { Column, Row } from "../../layouts";
import { valueAt } from "../../model/record";
import { Button, Dialog, toast } from "../../ui";

/** What the control of a form needs to change one value. */
export interface InlineProps {
  resource: Resource;
  item: Item;
  field: string;
  label: string;
  hints: FieldHints;
  /** What the record has. */
  schema: Schema;
  /** What the request takes. */
  argument: Schema;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
}

/** The control for a value in a list; set where the controls of forms are there. */
export const inlineControl = signal<ComponentType<InlineProps> | null>(null);

interface CellProps {
  row: Row;
  column: Column;
  resource: Resource;
  params: Params;
  /** Of the operation that changes records. */
  args: Args;
}

export function Cell({ row, column, resource, params, args }: CellProps): JSX.Element {
  const [editing, setEditing] = useState(false);
  const value = valueAt(row.item, column.field);
  const editable = inlineControl.value !== null && isSimple(resource, column, args);
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
      {editing && <EditValue row={row} column={column} resource={resource} params={params} args={args} onClose={() => setEditing(false)} />}
    </span>
  );
}

/** Values of one line can be changed in a list; the rest has its place in the form. */
function isSimple(resource: Resource, column: Column, args: Args): boolean {
  const argument = args[column.field];
  if (argument === undefined || resource.operations["update"]?.args.includes(column.field) !== true) return false;
  if (column.hints.relation !== undefined || column.schema.readonly === true) return false;
  return typesOf(argument).every((type) => ["string", "integer", "number", "boolean"].includes(type));
}

function EditValue({ row, column, resource, params, args, onClose }: CellProps & { onClose: () => void }): JSX.Element | null {
  const [value, setValue] = useState(valueAt(row.item, column.field));
  const [error, setError] = useState<string | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const Control = inlineControl.value;
  if (Control === null) return null;
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      await api().adapter.update(resource, row.id, { [column.field]: value }, { params });
      toast.done(t("lists.saved", { name: row.title }));
      onClose();
    } catch (failure) {
      const own = failure instanceof Failure ? failure.params[column.field] : undefined;
      setError(own);
      if (own === undefined) toast.failed(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={row.title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="primary" busy={busy} onClick={() => void save()}>
            {t("lists.save")}
          </Button>
        </>
      }
    >
      <Control
        resource={resource}
        item={row.item}
        field={column.field}
        label={column.label}
        hints={column.hints}
        schema={column.schema}
        argument={args[column.field] ?? {}}
        value={value}
        onChange={setValue}
        error={error}
      />
    </Dialog>
  );
}
