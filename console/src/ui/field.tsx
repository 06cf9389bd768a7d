/** A label, a control, its help and its error, tied together for assistive technology. */

import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";
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
  /** The help is shown when somebody asks for it. */
  quiet?: boolean | undefined;
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

/** A help text, and the button that shows it where it is quiet. Assistive technology has it in any case. */
export function useHelp(id: string, label: string, help: string | undefined, quiet: boolean): { button: JSX.Element | null; note: JSX.Element | null } {
  const [open, setOpen] = useState(false);
  if (help === undefined || help === "") return { button: null, note: null };
  const note = (
    <p id={`${id}-help`} class="field-help" hidden={quiet && !open}>
      {help}
    </p>
  );
  if (!quiet) return { button: null, note };
  const button = (
    <button type="button" class="help-button" aria-label={t("ui.help_for", { name: label })} aria-expanded={open} aria-controls={`${id}-help`} onClick={() => setOpen(!open)}>
      ?
    </button>
  );
  return { button, note };
}

export function Field({ label, help, quiet, error, required, group, bare, aside, children }: FieldProps): JSX.Element {
  const id = useId();
  const { button, note } = useHelp(id, label, help, quiet === true && bare !== true);
  const described = [note !== null && `${id}-help`, error !== undefined && `${id}-error`].filter((name) => name !== false);
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
        {button}
        {aside}
      </div>
      {children(ids)}
      {note}
      {error !== undefined && (
        <p id={`${id}-error`} class="field-error">
          {error}
        </p>
      )}
    </div>
  );
}
