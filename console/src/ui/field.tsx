/** A label, a control, its help and its error, tied together for assistive technology. */

import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { t } from "../i18n";

/** What the control puts on its element. */
export interface FieldIds {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": "true" | undefined;
  "aria-required": "true" | undefined;
}

interface FieldProps {
  label: string;
  help?: string | undefined;
  error?: string | undefined;
  required?: boolean | undefined;
  /** Several elements under one label, such as choices: a group. */
  group?: boolean | undefined;
  /** The label is for assistive technology alone. */
  bare?: boolean | undefined;
  /** Beside the label, such as the name of a state. */
  aside?: ComponentChildren;
  children: (ids: FieldIds) => ComponentChildren;
}

export function Field({ label, help, error, required, group, bare, aside, children }: FieldProps): JSX.Element {
  const id = useId();
  const described = [help !== undefined && `${id}-help`, error !== undefined && `${id}-error`].filter((name) => name !== false);
  const ids: FieldIds = {
    id,
    "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
    "aria-invalid": error === undefined ? undefined : "true",
    "aria-required": required === true && group !== true ? "true" : undefined,
  };
  const text = (
    <>
      {label}
      {required === true && <span class="field-required"> ({t("ui.required")})</span>}
    </>
  );
  const labelClass = bare === true ? "hidden-visually" : "field-label";
  return (
    <div
      class={`field${error === undefined ? "" : " field-wrong"}`}
      role={group === true ? "group" : undefined}
      aria-labelledby={group === true ? `${id}-label` : undefined}
      aria-describedby={group === true ? ids["aria-describedby"] : undefined}
    >
      <div class="field-head">
        {group === true ? (
          <span id={`${id}-label`} class={labelClass}>
            {text}
          </span>
        ) : (
          <label id={`${id}-label`} htmlFor={id} class={labelClass}>
            {text}
          </label>
        )}
        {aside}
      </div>
      {children(ids)}
      {help !== undefined && (
        <p id={`${id}-help`} class="field-help">
          {help}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} class="field-error">
          {error}
        </p>
      )}
    </div>
  );
}
