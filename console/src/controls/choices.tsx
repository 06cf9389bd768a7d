/** One of several values (a list or buttons), or several of them. */

import type { JSX } from "preact";
import { t } from "../i18n";
import type { Choice, Field } from "../model/fields";
import { equal } from "../model/values";
import type { ControlProps } from "./types";

/** The declared choices, and a value that is none of them: it stays until somebody chooses. */
function offered(field: Field, values: unknown[]): Choice[] {
  const choices = field.choices ?? [];
  const others = values.filter((value) => value !== null && value !== undefined && !choices.some((choice) => equal(choice.value, value)));
  return [...choices, ...others.map((value) => ({ value, label: typeof value === "string" ? value : JSON.stringify(value) }))];
}

function labelOf(choice: Choice): string {
  return choice.label === "" ? t("forms.default_choice") : choice.label;
}

export function Select({ field, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
  const choices = offered(field, [value]);
  const chosen = choices.findIndex((choice) => equal(choice.value, value));
  return (
    <select
      {...ids}
      class="select"
      value={chosen < 0 ? "" : String(chosen)}
      disabled={readOnly}
      onChange={(event) => {
        const place = event.currentTarget.value;
        onChange(place === "" ? null : choices[Number(place)]?.value);
      }}
    >
      {(field.nullable || chosen < 0) && (
        <option value="" disabled={!field.nullable && chosen >= 0}>
          {t(value === undefined && !field.nullable ? "forms.default_choice" : "forms.not_set")}
        </option>
      )}
      {choices.map((choice, place) => (
        <option key={place} value={String(place)}>
          {labelOf(choice)}
        </option>
      ))}
    </select>
  );
}

export function Radio({ field, at, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
  const choices = offered(field, [value]);
  return (
    <div class="choices" id={ids.id}>
      {field.nullable && (
        <label class="check">
          <input type="radio" name={at} checked={value === null || value === undefined} disabled={readOnly} onChange={() => onChange(null)} />
          {t("forms.not_set")}
        </label>
      )}
      {choices.map((choice, place) => (
        <label key={place} class="check">
          <input type="radio" name={at} checked={equal(choice.value, value)} disabled={readOnly} onChange={() => onChange(choice.value)} />
          {labelOf(choice)}
        </label>
      ))}
    </div>
  );
}

export function Checkboxes({ field, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
  const chosen: unknown[] = Array.isArray(value) ? value : [];
  const offers = offered(field, chosen);
  const toggle = (choice: unknown, on: boolean): void => {
    // What was chosen before keeps its order.
    onChange(on ? [...chosen, choice] : chosen.filter((one) => !equal(one, choice)));
  };
  return (
    <div class="choices" id={ids.id}>
      {offers.length === 0 && <span class="soft">{t("forms.no_choices")}</span>}
      {offers.map((choice, place) => (
        <label key={place} class="check">
          <input
            type="checkbox"
            checked={chosen.some((one) => equal(one, choice.value))}
            disabled={readOnly}
            onChange={(event) => toggle(choice.value, event.currentTarget.checked)}
          />
          {labelOf(choice)}
          {field.options["usual"] === choice.value && <span class="soft"> ({t("forms.usual")})</span>}
        </label>
      ))}
    </div>
  );
}
