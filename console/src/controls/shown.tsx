/** A value that is read, not changed. */

import type { JSX } from "preact";
import { locale, number, t } from "../i18n";
import { show } from "../model/dates";
import type { Field } from "../model/fields";
import { isObject } from "../model/json-schema";
import { stripHtml } from "../model/record";
import { find } from "../model/states";
import { equal } from "../model/values";
import type { FormScope } from "./types";

export function Shown({ field, value, form, id }: { field: Field; value: unknown; form: FormScope; id: string }): JSX.Element {
  if (typeof value === "string" && (field.format === "uri" || field.control === "address") && /^https?:/i.test(value)) {
    return (
      <a id={id} class="shown" href={value} target="_blank" rel="noopener noreferrer" dir="ltr">
        {value}
      </a>
    );
  }
  if (field.control === "json" && isObject(value)) {
    return (
      <pre id={id} class="shown shown-code">
        {JSON.stringify(value, null, 2)}
      </pre>
    );
  }
  return (
    <p id={id} class="shown" dir="auto">
      {field.wrapped && typeof value === "string" ? stripHtml(value) || t("forms.not_set") : textOf(field, value, form)}
    </p>
  );
}

/** A value in the words of people, on one line. */
export function textOf(field: Field, value: unknown, form: Pick<FormScope, "description" | "states">): string {
  if (value === null || value === undefined || value === "") {
    return t("forms.not_set");
  }
  if (field.control === "state" && typeof value === "string") {
    return find(form.states, value)?.label ?? value;
  }
  const choice = field.choices?.find((one) => equal(one.value, value));
  if (choice !== undefined && choice.label !== "") {
    return choice.label;
  }
  if (typeof value === "boolean") {
    return t(value ? "forms.yes" : "forms.no");
  }
  if (typeof value === "number") {
    return field.name === "id" || field.relation !== null ? String(value) : number(value);
  }
  if (typeof value === "string") {
    return field.control === "date-time" ? show(value, form.description.site.timezone, locale.value) : value;
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? t("forms.not_set") : value.map((item) => (field.item === null ? JSON.stringify(item) : textOf(field.item, item, form))).join(", ");
  }
  return JSON.stringify(value);
}
