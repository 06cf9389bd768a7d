/** A value of one of several shapes. */

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { t } from "../i18n";
import { fits } from "../model/checks";
import type { Field } from "../model/fields";
import { initial } from "../model/values";
import { Nested } from "./nested";
import type { ControlProps } from "./types";

const NOTHING = -1;

/** The alternative that a value has; where none fits, the one that can show any. */
export function alternativeOf(field: Field, value: unknown): number {
  if (value === null || value === undefined) {
    return field.nullable || value === undefined ? NOTHING : 0;
  }
  const exact = field.alternatives.findIndex((alternative) => fits(alternative, value));
  return exact >= 0 ? exact : field.alternatives.findIndex((alternative) => alternative.control === "json");
}

function nameOf(alternative: Field): string {
  if (alternative.label !== "") {
    return alternative.label;
  }
  if (alternative.choices !== null && alternative.kind !== "array") {
    return alternative.choices.map((choice) => choice.label).join(", ");
  }
  switch (alternative.kind) {
    case "string":
      return alternative.control === "date-time" || alternative.control === "date" ? t("forms.kind_date") : t("forms.kind_text");
    case "integer":
    case "number":
      return t("forms.kind_number");
    case "boolean":
      return t("forms.kind_boolean");
    case "array":
      return t("forms.kind_list");
    case "object":
    case "map":
      return t("forms.kind_object");
    default:
      return t("forms.kind_any");
  }
}

export function Union({ field, at, ids, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const name = useId();
  const [picked, setPicked] = useState<number | null>(null);
  const fitting = alternativeOf(field, value);
  // What was picked stays while its value is not whole yet.
  const current = picked ?? fitting;
  const alternative = field.alternatives[current];
  // It has none of the shapes; it stays until another one is chosen.
  const isOther = current === NOTHING && value !== null && value !== undefined;
  const pick = (place: number): void => {
    setPicked(place);
    const next = field.alternatives[place];
    if (next === undefined) {
      onChange(field.nullable ? null : undefined);
    } else if (!fits(next, value)) {
      onChange(initial({ ...next, nullable: false }));
    }
  };
  return (
    <div class="union" id={ids.id}>
      <label class="hidden-visually" htmlFor={name}>
        {t("forms.kind_of", { name: field.label })}
      </label>
      <select id={name} class="select select-small" value={String(current)} disabled={readOnly} onChange={(event) => pick(Number(event.currentTarget.value))}>
        {(field.nullable || current === NOTHING) && <option value={String(NOTHING)}>{t(isOther ? "forms.other_value" : "forms.not_set")}</option>}
        {field.alternatives.map((one, place) => (
          <option key={place} value={String(place)}>
            {nameOf(one)}
          </option>
        ))}
      </select>
      {alternative !== undefined && !isSingle(alternative) && (
        <Nested key={current} field={{ ...alternative, children: alternative.children.filter((child) => !(child.required && isSingle(child))), help: alternative.help === field.help ? "" : alternative.help }} at={at} label={nameOf(alternative)} bare value={value} onChange={onChange} readOnly={readOnly} form={{ ...form, error: (place) => (place === at ? undefined : form.error(place)) }} />
      )}
      {isOther && <code class="field-help">{JSON.stringify(value)}</code>}
    </div>
  );
}

/** Its only value is chosen with it, or with the alternative that it belongs to. */
function isSingle(alternative: Field): boolean {
  return alternative.kind !== "array" && alternative.choices?.length === 1;
}
