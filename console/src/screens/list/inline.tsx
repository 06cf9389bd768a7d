/** One value of a record, changed in its list with the control that forms have for it. */

import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { api, statesOf } from "../../api";
import type { Params } from "../../api/adapter";
import type { Resource } from "../../api/description";
import { Failure } from "../../api/failure";
import type { Args } from "../../api/schema";
import { Nested } from "../../controls/nested";
import type { FormScope } from "../../controls/types";
import { t } from "../../i18n";
import type { Column, Row } from "../../layouts";
import { fieldsOf } from "../../model/fields";
import type { JsonSchema } from "../../model/json-schema";
import { valueAt } from "../../model/record";
import { Button, Dialog, toast } from "../../ui";

export interface InlineProps {
  row: Row;
  column: Column;
  resource: Resource;
  params: Params;
  /** Of the operation that changes records. */
  args: Args;
  onClose: () => void;
}

export function EditValue({ row, column, resource, params, args, onClose }: InlineProps): JSX.Element | null {
  const name = column.field;
  const [value, setValue] = useState(valueAt(row.item, name));
  const [error, setError] = useState<string | undefined>(undefined);
  const [broken, setBroken] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const flushes = useRef(new Set<(settled: boolean) => void>());
  const latest = useRef(value);
  const field = useMemo(
    () => fieldsOf({ properties: { [name]: column.schema as JsonSchema }, args: { [name]: (args[name] ?? {}) as JsonSchema }, hints: { [name]: column.hints }, parameters: [] })[0],
    [name, column, args],
  );
  if (field === undefined) return null;
  const form: FormScope = {
    ...api(),
    resource,
    id: String(row.id),
    read: (path) => (path === name ? value : valueAt(row.item, path)),
    record: () => row.item,
    error: (at) => (at === name ? (broken ?? error) : undefined),
    setBroken: (_, message) => setBroken(message),
    onFlush: (flush) => {
      flushes.current.add(flush);
      return () => flushes.current.delete(flush);
    },
    states: statesOf(resource),
    barred: () => [],
    unfilteredHtml: true,
  };
  const save = async (): Promise<void> => {
    for (const flush of flushes.current) flush(true);
    setBusy(true);
    try {
      await api().adapter.update(resource, row.id, { [name]: latest.current }, { params });
      toast.done(t("lists.saved", { name: row.title }));
      onClose();
    } catch (failure) {
      const own = failure instanceof Failure ? failure.params[name] : undefined;
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
          <Button kind="primary" busy={busy} disabled={broken !== null} onClick={() => void save()}>
            {t("lists.save")}
          </Button>
        </>
      }
    >
      <Nested
        field={field}
        at={name}
        label={column.label}
        value={value}
        readOnly={false}
        form={form}
        onChange={(next) => {
          latest.current = next;
          setValue(next);
        }}
      />
    </Dialog>
  );
}
