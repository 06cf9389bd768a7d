/** A dialog that makes a record where it is needed: its name, and what the server wants besides. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { Failure } from "../api/failure";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { faultsOf, type Faults } from "../model/checks";
import { fieldsOf } from "../model/fields";
import { addLabel } from "../model/naming";
import { place, shownAt } from "../model/messages";
import { hintsOf } from "../model/roles";
import { changes, initial } from "../model/values";
import { Button, Dialog } from "../ui";
import { faultText } from "./faults";
import { Nested } from "./nested";
import type { Recipe } from "./records";
import type { FormScope } from "./types";

interface NewRecordProps {
  resource: Resource;
  recipe: Recipe;
  name: string;
  form: FormScope;
  /** With the record, or null where there is none. */
  onDone(item: Item | null): void;
}

export function NewRecord({ resource, recipe, name, form, onDone }: NewRecordProps): JSX.Element {
  const fields = useMemo(() => {
    const wanted = [recipe.title, ...recipe.required];
    const hints = hintsOf(resource, form.description, recipe.args);
    return fieldsOf({ properties: {}, args: recipe.args, hints, parameters: [] }).filter((field) => wanted.includes(field.path));
  }, [resource, recipe]);
  const [values, setValues] = useState<Record<string, unknown>>(() =>
    Object.fromEntries(fields.map((field) => [field.path, field.path === recipe.title ? name : initial(field)])),
  );
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [summary, setSummary] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    const faults = Object.assign({}, ...fields.map((field) => faultsOf(field, values[field.path]))) as Faults;
    if (Object.keys(faults).length > 0) {
      setErrors(Object.fromEntries(Object.entries(faults).map(([at, fault]) => [at, faultText(fault)])));
      return;
    }
    setBusy(true);
    try {
      onDone((await form.adapter.create(resource, changes(fields, {}, values))).item);
    } catch (error) {
      const placed = error instanceof Failure ? place(error, fields) : { fields: {}, rest: [messageOf(error)] };
      setErrors(shownAt(placed, fields));
      setSummary(placed.rest);
      setBusy(false);
    }
  };
  const scope: FormScope = { ...form, resource, id: null, error: (at) => errors[at], read: (path) => values[path], record: () => ({}) };
  return (
    <Dialog
      title={addLabel(resource)}
      onClose={() => onDone(null)}
      actions={
        <>
          <Button onClick={() => onDone(null)}>{t("ui.cancel")}</Button>
          <Button kind="primary" busy={busy} onClick={() => void save()}>
            {t("forms.create")}
          </Button>
        </>
      }
    >
      <div class="stack">
        {summary.map((message) => (
          <p key={message} class="notice notice-bad" role="alert">
            {message}
          </p>
        ))}
        {fields.map((field) => (
          <Nested
            key={field.path}
            field={field}
            at={field.path}
            value={values[field.path]}
            onChange={(next) => setValues((before) => ({ ...before, [field.path]: next }))}
            readOnly={false}
            form={scope}
          />
        ))}
      </div>
    </Dialog>
  );
}
