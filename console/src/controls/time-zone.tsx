/** A time zone: those that the browser knows are offered while somebody types. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { nowText, show } from "../model/dates";
import { locale, t } from "../i18n";
import { shownText, textValue } from "./text";
import type { ControlProps } from "./types";

function zones(): string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
}

export function TimeZone({ field, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
  const known = useMemo(zones, []);
  const text = shownText(value);
  const shown = known.includes(text) ? show(nowText(text), text, locale.value) : null;
  const list = `${ids.id}-zones`;
  return (
    <div class="stack-tight">
      <input {...ids} class="input" list={list} value={text} autocomplete="off" spellcheck={false} readOnly={readOnly} onInput={(event) => onChange(textValue(event.currentTarget.value, field))} />
      <datalist id={list}>
        {known.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      {shown !== null && <p class="field-help">{t("forms.time_there", { time: shown })}</p>}
    </div>
  );
}
