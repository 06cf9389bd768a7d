/** One value for a property of all selected records. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, findResource } from "../../api";
import { idOf } from "../../api/adapter";
import { typesOf } from "../../api/schema";
import { t } from "../../i18n";
import { humanName, labelOf, labelOfField } from "../../model/record";
import { searchRecords } from "../../model/search";
import { Button, Dialog, Field } from "../../ui";
import { type Choice, Combobox } from "../../ui/combobox";
import type { ListingProps } from "./listing";

interface SetValueProps extends ListingProps {
  field: string;
  count: number;
  onClose: () => void;
  onValue: (value: unknown) => void;
}

export function SetValueDialog({ resource, schema, field, count, onClose, onValue }: SetValueProps): JSX.Element {
  const [chosen, setChosen] = useState<Choice[]>([]);
  const argument = schema.args["update"]?.[field] ?? {};
  const hints = resource.fields[field] ?? {};
  const target = hints.relation === undefined ? undefined : findResource(hints.relation.resources[0] ?? "");
  const types = typesOf(argument);
  const values: unknown[] = argument.enum ?? (types.includes("boolean") ? [true, false] : []);
  const labelled = (value: unknown): string => {
    if (typeof value === "boolean") return t(value ? "lists.yes" : "lists.no");
    return hints.labels?.[String(value)] ?? humanName(String(value));
  };
  const choices = values.map((value) => ({ value: String(value), label: labelled(value) }));
  const search = async (text: string, signal: AbortSignal): Promise<Choice[]> => {
    if (target === undefined) return [];
    const items = await searchRecords(api(), target, text, { signal });
    return items.map((item) => ({ value: String(idOf(target, item)), label: labelOf(target, item, (id) => `#${id}`) }));
  };
  const apply = (): void => {
    const text = chosen[0]?.value;
    if (text === undefined) return;
    const known = values.find((value) => String(value) === text);
    onValue(known ?? (types.includes("integer") ? Number(text) : text));
  };
  return (
    <Dialog
      title={t("lists.set_field_of", { count })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="primary" disabled={chosen.length === 0} onClick={apply}>
            {t("lists.apply")}
          </Button>
        </>
      }
    >
      <Field label={labelOfField(resource, field)} help={argument.description}>
        {(ids) => (
          <Combobox
            label={labelOfField(resource, field)}
            field={ids}
            value={chosen}
            onChange={setChosen}
            {...(target === undefined ? { choices } : { search })}
          />
        )}
      </Field>
    </Dialog>
  );
}
