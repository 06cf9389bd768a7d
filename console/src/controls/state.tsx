/** The state of a record: those that the caller may choose. */

import type { JSX } from "preact";
import { choosable, find, written } from "../model/states";
import { t } from "../i18n";
import type { ControlProps } from "./types";

export function StateControl({ field, ids, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const text = typeof value === "string" ? value : null;
  const saved = form.record()[field.name];
  const offered = choosable(form.states, field, typeof saved === "string" ? saved : null, form.barred(field.path));
  const chosen = find(form.states, text);
  // A state that was set in another way is shown, too.
  const choices = chosen === null || offered.includes(chosen) ? offered : [...offered, chosen];
  return (
    <select
      {...ids}
      class="select"
      value={chosen?.name ?? ""}
      disabled={readOnly}
      onChange={(event) => {
        const state = find(form.states, event.currentTarget.value);
        onChange(state === null ? field.default : state === find(form.states, typeof saved === "string" ? saved : null) ? saved : written(state));
      }}
    >
      {chosen === null && <option value="">{text ?? t("forms.new_state")}</option>}
      {choices.map((state) => (
        <option key={state.name} value={state.name}>
          {state.label}
        </option>
      ))}
    </select>
  );
}
