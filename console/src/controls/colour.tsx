/** A colour: the browser's picker, and its text. */

import type { JSX } from "preact";
import { t } from "../i18n";
import { shownText, textValue } from "./text";
import type { ControlProps } from "./types";

/** The picker knows six digits alone. */
export function sixDigits(text: string): string {
  const short = /^#([\da-f])([\da-f])([\da-f])$/i.exec(text);
  if (short !== null) {
    return `#${short.slice(1).map((digit) => digit + digit).join("")}`.toLowerCase();
  }
  return /^#[\da-f]{6}$/i.test(text) ? text.toLowerCase() : "#000000";
}

export function Colour({ field, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
  const text = shownText(value);
  return (
    <div class="input-with">
      <input
        type="color"
        class="input-colour"
        aria-label={t("forms.pick_colour", { name: field.label })}
        value={sixDigits(text)}
        disabled={readOnly}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <input
        {...ids}
        class="input input-code"
        value={text}
        placeholder="#000000"
        spellcheck={false}
        dir="ltr"
        readOnly={readOnly}
        onInput={(event) => onChange(textValue(event.currentTarget.value, field))}
      />
    </div>
  );
}
