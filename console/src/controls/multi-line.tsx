/** A text of several lines; it grows with its text. */

import type { JSX } from "preact";
import { numberOption, textOption, type ControlProps } from "./types";
import { shownText, textValue } from "./text";

export function MultiLine({ field, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
  return (
    <textarea
      {...ids}
      class="textarea textarea-grows"
      rows={numberOption(field, "rows") ?? 3}
      value={shownText(value)}
      placeholder={textOption(field, "placeholder")}
      readOnly={readOnly}
      dir="auto"
      onInput={(event) => onChange(textValue(event.currentTarget.value, field))}
    />
  );
}
