/** Terms, or other records, that are added to a property of all selected records, or taken away from it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, findResource } from "../../api";
import { argument, type BatchResult, type Id, idOf, type Item } from "../../api/adapter";
import { type EachChange, updateEach } from "../../api/batch";
import { Failure } from "../../api/failure";
import { t } from "../../i18n";
import { labelOf, labelOfField } from "../../model/record";
import { searchRecords } from "../../model/search";
import { Button, Dialog, Field } from "../../ui";
import { type Choice, Combobox } from "../../ui/combobox";
import type { ListingProps } from "./listing";

/** Changes of one request: what fails in one part does not stop the others. */
const PART = 25;

interface SetTermsProps extends ListingProps {
  field: string;
  count: number;
  onClose: () => void;
  /** Ids of what is added, or taken away. */
  onTerms: (ids: Id[], adds: boolean) => void;
}

export function SetTermsDialog({ resource, field, count, onClose, onTerms }: SetTermsProps): JSX.Element {
  const [chosen, setChosen] = useState<Choice[]>([]);
  const target = findResource(resource.fields[field]?.relation?.resources[0] ?? "");
  const label = labelOfField(resource, field);
  const search = async (text: string, signal: AbortSignal): Promise<Choice[]> => {
    if (target === undefined) return [];
    const items = await searchRecords(api(), target, text, { signal });
    return items.map((item) => ({ value: String(idOf(target, item)), label: labelOf(target, item, (id) => `#${id}`) }));
  };
  const apply = (adds: boolean): void => onTerms(chosen.map(({ value }) => (/^\d+$/.test(value) ? Number(value) : value)), adds);
  return (
    <Dialog
      title={t("lists.set_field_of", { count })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button disabled={chosen.length === 0} onClick={() => apply(false)}>
            {t("lists.take_away")}
          </Button>
          <Button kind="primary" disabled={chosen.length === 0} onClick={() => apply(true)}>
            {t("lists.add_to")}
          </Button>
        </>
      }
    >
      <Field label={label}>{(ids) => <Combobox label={label} field={ids} multiple search={search} value={chosen} onChange={setChosen} />}</Field>
    </Dialog>
  );
}

/** Changes the property of each record as it is now; records that have, or lack, all of them already are left alone. */
export async function setTerms({ resource, params }: ListingProps, ids: readonly Id[], field: string, terms: readonly Id[], adds: boolean): Promise<BatchResult> {
  const { adapter } = api();
  const edit = argument(resource, "list", "context") ? { context: "edit" } : {};
  const items = await adapter.many(resource, ids, { params, query: { ...edit, _fields: [resource.key ?? "", field] } });
  const changes = items.flatMap((item): EachChange[] => {
    const before = idsIn(item, field);
    const after = adds ? [...before, ...terms.filter((term) => !before.includes(term))] : before.filter((term) => !terms.includes(term));
    return after.length === before.length ? [] : [{ id: idOf(resource, item), values: { [field]: after } }];
  });
  const changed = (item: Item): boolean => changes.some(({ id }) => id === idOf(resource, item));
  const result: BatchResult = { done: items.filter((item) => !changed(item)).map((item) => ({ id: idOf(resource, item), item })), failed: [] };
  // Whom the list does not show for editing may not be changed.
  for (const id of ids.filter((one) => !items.some((item) => idOf(resource, item) === one))) {
    result.failed.push({ id, failure: new Failure(403, { code: "rest_cannot_edit", message: t("lists.not_editable") }) });
  }
  for (let start = 0; start < changes.length; start += PART) {
    const part = await updateEach(api(), resource, changes.slice(start, start + PART), params);
    result.done.push(...part.done);
    result.failed.push(...part.failed);
  }
  return result;
}

function idsIn(item: Item, field: string): Id[] {
  const value = item[field];
  return Array.isArray(value) ? value.filter((id): id is Id => typeof id === "number" || typeof id === "string") : [];
}
