/** A value inside another one: its label, its control, its message. */

import type { ComponentChildren, JSX } from "preact";
import type { Field as FieldModel } from "../model/fields";
import { Field } from "../ui";
import { useHelp } from "../ui/field";
import { componentOf, isGroup } from "./index";
import { Shown } from "./shown";
import type { FormScope } from "./types";

interface NestedProps {
  field: FieldModel;
  at: string;
  label?: string;
  /** The label is said to assistive technology alone: the place says it to others. */
  bare?: boolean;
  value: unknown;
  onChange(value: unknown): void;
  readOnly: boolean;
  form: FormScope;
  aside?: ComponentChildren;
}

/** Controls that show a value well that nobody may change. Others show it as text. */
const SHOWS_ITSELF: readonly string[] = ["object", "meta", "search-result", "list", "markup", "relation", "file", "terms"];

export function Nested({ field, at, label = field.label, bare, value, onChange, readOnly, form, aside }: NestedProps): JSX.Element {
  const locked = readOnly || field.readOnly;
  const Control = componentOf(field.control);
  const plain = locked && !SHOWS_ITSELF.includes(field.control);
  if (field.control === "object" || field.control === "meta" || field.control === "search-result" || (field.control === "switch" && !field.nullable && !plain)) {
    return <Own field={field} at={at} label={label} value={value} onChange={onChange} readOnly={locked} form={form} bare={bare === true} />;
  }
  return (
    <Field label={label} help={field.help === "" ? undefined : field.help} quiet={field.quiet} error={form.error(at)} required={field.required && !locked} group={plain || isGroup(field.control)} bare={bare} aside={aside}>
      {(ids) =>
        plain ? (
          <Shown field={field} value={value} form={form} id={ids.id} />
        ) : (
          <Control field={field} at={at} ids={ids} value={value} onChange={onChange} readOnly={locked} form={form} />
        )
      }
    </Field>
  );
}

/** A fieldset has its own legend, and the label of a switch stands beside it. */
function Own({ field, at, label, value, onChange, readOnly, form, bare }: Required<Omit<NestedProps, "aside">>): JSX.Element {
  const Control = componentOf(field.control);
  const error = form.error(at);
  const id = `field-${at.replace(/[^\w-]/g, "_")}`;
  const described = [field.help !== "" && `${id}-help`, error !== undefined && `${id}-error`].filter((name) => name !== false).join(" ");
  const ids = { id, "aria-describedby": described === "" ? undefined : described, "aria-invalid": error === undefined ? undefined : ("true" as const), "aria-required": undefined };
  const help = useHelp(id, label, field.help, field.quiet && !bare);
  const notes = (
    <>
      {help.note}
      {error !== undefined && (
        <p id={`${id}-error`} class="field-error">
          {error}
        </p>
      )}
    </>
  );
  const control = <Control field={field} at={at} ids={ids} value={value} onChange={onChange} readOnly={readOnly} form={form} />;
  if (field.control === "switch") {
    return (
      <div class={`field field-switch${error === undefined ? "" : " field-wrong"}`}>
        <label class="check" htmlFor={id}>
          {control}
          <span class={bare ? "hidden-visually" : "field-label"}>{label}</span>
        </label>
        {help.button}
        {notes}
      </div>
    );
  }
  if (field.control === "meta") {
    return (
      <details class="form-details" id={id} open={error !== undefined}>
        <summary aria-describedby={ids["aria-describedby"]}>{label}</summary>
        <fieldset>
          <legend class="hidden-visually">{label}</legend>
          {help.button}
          {notes}
          {control}
        </fieldset>
      </details>
    );
  }
  return (
    <fieldset class="fieldset" aria-describedby={ids["aria-describedby"]} id={id}>
      <legend class={bare ? "hidden-visually" : "fieldset-legend"}>{label}</legend>
      {help.button}
      {notes}
      {control}
    </fieldset>
  );
}
