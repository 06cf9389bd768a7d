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

function Moment(props: ControlProps): JSX.Element {
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

/** How a value without a zone is written in the browser's own control, and back; both keep what does not fit. */
interface Spelling {
  fits: RegExp;
  toInput: (text: string) => string;
  fromInput: (typed: string) => string;
}

const AS_IS = { toInput: (text: string) => text, fromInput: (typed: string) => typed };
const DAY: Spelling = { fits: /^\d{4}-\d{2}-\d{2}$/, ...AS_IS };
const COMPACT_DAY: Spelling = {
  fits: /^\d{8}$/,
  toInput: (text) => `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`,
  fromInput: (typed) => typed.replaceAll("-", ""),
};
const TIME: Spelling = { fits: /^\d{2}:\d{2}(:\d{2})?$/, ...AS_IS };
const TIME_WITH_SECONDS: Spelling = { ...TIME, fromInput: seconds };
const SPACED: Spelling = {
  fits: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})?$/,
  toInput: (text) => text.replace(" ", "T"),
  fromInput: (typed) => seconds(typed.replace("T", " ")),
};

/** The browser leaves out seconds that are 0. */
function seconds(typed: string): string {
  return /\d{2}:\d{2}$/.test(typed) && !/\d{2}:\d{2}:\d{2}$/.test(typed) ? `${typed}:00` : typed;
}

function simple(type: "date" | "time" | "datetime-local", spelling: (form: unknown) => Spelling): (props: ControlProps) => JSX.Element {
  return function DateOrTime({ field, ids, value, onChange, readOnly }: ControlProps): JSX.Element {
    const { fits, toInput: shown, fromInput: written } = spelling(field.options["form"]);
    const text = shownText(value);
    const native = text === "" || fits.test(text);
    return (
      <input
        {...ids}
        {...({ type: native ? type : "text" } as { type: "text" })}
        class="input input-date"
        step={/:\d{2}:\d{2}$/.test(text) ? 1 : undefined}
        value={native && text !== "" ? shown(text) : text}
        readOnly={readOnly}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          if (typed !== "" || !event.currentTarget.validity.badInput) {
            onChange(textValue(native && typed !== "" ? written(typed) : typed, field));
          }
        }}
      />
    );
  };
}

export const DateOnly = simple("date", (form) => (form === "compact" ? COMPACT_DAY : DAY));
export const TimeOnly = simple("time", (form) => (form === "seconds" ? TIME_WITH_SECONDS : TIME));
const WithoutZone = simple("datetime-local", () => SPACED);

/** A moment, or a day and a time without a zone where the option `form` says so. */
export function DateTime(props: ControlProps): JSX.Element {
  return props.field.options["form"] === "spaced" ? <WithoutZone {...props} /> : <Moment {...props} />;
}
