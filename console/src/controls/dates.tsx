/** Dates and times. Times are those of the site's clock, whatever the clock of the visitor shows. */

import type { JSX } from "preact";
import { t } from "../i18n";
import { fromInput, instantOf, parseWall, toInput } from "../model/dates";
import { DATE, MODIFIED, STATE } from "../model/roles";
import { find } from "../model/states";
import { Button } from "../ui";
import { shownText, textValue } from "./text";
import type { ControlProps } from "./types";

/** Twins in UTC end so; the option says it for others. */
function ownZone({ field }: ControlProps): "site" | "utc" {
  return field.options["zone"] === "utc" || field.name.endsWith("_gmt") ? "utc" : "site";
}

export function DateTime(props: ControlProps): JSX.Element {
  const { field, ids, value, onChange, readOnly, form } = props;
  const zone = form.description.site.timezone;
  const own = ownZone(props);
  const floats = isFloating(props);
  const text = floats ? "" : shownText(value);
  const local = text === "" ? "" : toInput(text, zone, own);
  if (text !== "" && local === "") {
    // Something that is no time: it is shown, and can be mended.
    return <input {...ids} class="input" value={text} readOnly={readOnly} onInput={(event) => onChange(textValue(event.currentTarget.value, field))} />;
  }
  const wall = local === "" ? null : parseWall(local);
  const note = wall === null ? null : instantOf(wall, zone).note;
  return (
    <div class="stack-tight">
      <div class="input-with">
        <input
          {...ids}
          type="datetime-local"
          class="input"
          step={60}
          value={local.slice(0, 16)}
          readOnly={readOnly}
          onInput={(event) => {
            const typed = event.currentTarget.value;
            // While somebody types a part of it, the browser gives nothing.
            if (typed !== "") {
              onChange(fromInput(withSeconds(typed, local), zone, value, own));
            } else if (!event.currentTarget.validity.badInput) {
              onChange(textValue("", field));
            }
          }}
        />
        {!readOnly && field.nullable && text !== "" && <Button kind="quiet" icon="close" label={t("ui.clear")} onClick={() => onChange(null)} />}
      </div>
      {floats && <p class="field-help">{t("forms.date_floats")}</p>}
      {note !== null && <p class="field-help">{t(note === "skipped" ? "forms.time_skipped" : "forms.time_twice", { zone })}</p>}
      {note === null && local !== "" && zone !== Intl.DateTimeFormat().resolvedOptions().timeZone && <p class="field-help">{t("forms.time_zone", { zone })}</p>}
    </div>
  );
}

/** The date of a draft that nobody has chosen moves with each change: it is that of publishing. */
function isFloating({ field, value, form }: ControlProps): boolean {
  const record = form.record();
  const state = find(form.states, typeof record[STATE] === "string" ? record[STATE] : null);
  const unset = form.id === null ? value === undefined || value === null : value === record[DATE] && value === record[MODIFIED];
  return field.path === DATE && unset && (form.id === null ? form.states.length > 0 : state?.draft === true || state?.review === true);
}

/** Seconds are not shown; they stay while the minute stays. */
function withSeconds(typed: string, before: string): string {
  return typed.length === 16 && typed.slice(11) === before.slice(11, 16) ? typed + before.slice(16) : typed;
}

function simple(type: "date" | "time", fits: RegExp): (props: ControlProps) => JSX.Element {
  return function DateOrTime({ field, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
    const text = shownText(value);
    const native = text === "" || fits.test(text);
    return (
      <input
        {...ids}
        {...({ type: native ? type : "text" } as { type: "text" })}
        class="input input-date"
        step={type === "time" && text.length > 5 ? 1 : undefined}
        value={text}
        readOnly={readOnly}
        onInput={(event) => {
          if (event.currentTarget.value !== "" || !event.currentTarget.validity.badInput) {
            onChange(textValue(event.currentTarget.value, field));
          }
        }}
      />
    );
  };
}

export const DateOnly = simple("date", /^\d{4}-\d{2}-\d{2}$/);
export const TimeOnly = simple("time", /^\d{2}:\d{2}(:\d{2})?$/);
