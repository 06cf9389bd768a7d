/** A deletion for which somebody has to choose something, such as who gets what the record owns. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api";
import { type Id, idOf } from "../../api/adapter";
import { t } from "../../i18n";
import { removalArguments } from "../../model/actions";
import { labelOf, labelOfField } from "../../model/record";
import { searchRecords } from "../../model/search";
import { Button, Dialog, Field, toast } from "../../ui";
import { type Choice, Combobox } from "../../ui/combobox";
import type { ListingProps } from "./listing";
import { reportBatch } from "./report";

export interface RemovalProps extends ListingProps {
  ids: Id[];
  onClose: () => void;
  /** The ids that are still there. */
  onDone: (left: Id[]) => void;
}

export function RemovalDialog({ resource, schema, params, ids, onClose, onDone }: RemovalProps): JSX.Element {
  const wanted = removalArguments(schema.args["delete"] ?? {});
  const [values, setValues] = useState<Record<string, Choice[]>>({});
  const [busy, setBusy] = useState(false);
  const missing = wanted.some(([name]) => (values[name] ?? []).length === 0);
  const search = async (text: string, signal: AbortSignal): Promise<Choice[]> => {
    const items = await searchRecords(api(), resource, text, { signal, params });
    const others = items.filter((item) => !ids.includes(idOf(resource, item)));
    const found = others.map((item) => ({ value: String(idOf(resource, item)), label: labelOf(resource, item, (id) => `#${id}`) }));
    return text === "" ? [{ value: "false", label: t("lists.nobody") }, ...found] : found;
  };
  const remove = async (): Promise<void> => {
    setBusy(true);
    const chosen = Object.fromEntries(wanted.map(([name]) => [name, values[name]?.[0]?.value ?? ""]));
    try {
      const result = await api().adapter.removeMany(resource, ids, { params, query: { force: true, ...chosen } });
      reportBatch(result, "lists.deleted_many");
      onDone(result.failed.map((one) => one.id));
      onClose();
    } catch (error) {
      toast.failed(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("lists.delete_many_question", { count: ids.length })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="danger" disabled={missing} busy={busy} onClick={() => void remove()}>
            {t("lists.delete")}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>{t("lists.delete_text")}</p>
        {wanted.map(([name, one]) => (
          <Field key={name} label={labelOfField(resource, name)} help={one.description} required>
            {(field) => (
              <Combobox label={name} field={field} search={search} value={values[name] ?? []} onChange={(next) => setValues({ ...values, [name]: next })} />
            )}
          </Field>
        ))}
      </div>
    </Dialog>
  );
}
