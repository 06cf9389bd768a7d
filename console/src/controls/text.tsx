/** One line of text, in several kinds: plain, headline, e-mail, address, IP, UUID. */

import type { JSX } from "preact";
import { t } from "../i18n";
import { readEntities, valueAt } from "../model/record";
import { Button } from "../ui";
import { textOption, type ControlProps } from "./types";

interface Line {
  class?: string;
  inputMode?: "email" | "url" | "text";
  code?: boolean;
}

/** A text is never turned into nothing unless it may be nothing. */
export function textValue(text: string, field: ControlProps["field"]): string | null {
  return text === "" && field.nullable ? null : text;
}

/** Texts that the server stores with entities (`options.entities`) are shown as people write them. */
export function readText(value: unknown, field: ControlProps["field"]): string {
  const text = shownText(value);
  return field.options["entities"] === true ? readEntities(text) : text;
}

/** What is typed; a text that reads as the saved one is the saved one, byte for byte. */
export function typedText(text: string, saved: unknown, field: ControlProps["field"]): unknown {
  return typeof saved === "string" && text === readText(saved, field) ? saved : textValue(text, field);
}

export function shownText(value: unknown): string {
  return value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

function line(kind: Line): (props: ControlProps) => JSX.Element {
  return function TextLine({ field, ids, value, onChange, readOnly, form }: ControlProps): JSX.Element {
    return (
      <input
        {...ids}
        type="text"
        class={`input ${kind.class ?? ""}`}
        inputMode={kind.inputMode}
        spellcheck={kind.code === true ? false : undefined}
        autocapitalize={kind.code === true ? "off" : undefined}
        autocomplete="off"
        value={readText(value, field)}
        placeholder={textOption(field, "placeholder")}
        readOnly={readOnly}
        dir={kind.code === true ? "ltr" : "auto"}
        onInput={(event) => onChange(typedText(event.currentTarget.value, valueAt(form.record(), field.path), field))}
      />
    );
  };
}

export const Text = line({});
export const Headline = line({ class: "input-headline" });
// The browser's own checks of these types would refuse what the server takes, and say it in another language.
export const Email = line({ inputMode: "email", code: true });
export const Address = line({ inputMode: "url", code: true });
export const Ip = line({ code: true, class: "input-code" });

const UuidLine = line({ code: true, class: "input-code" });

export function Uuid(props: ControlProps): JSX.Element {
  return (
    <div class="input-with">
      <UuidLine {...props} />
      {!props.readOnly && (
        <Button icon="refresh" label={t("forms.generate")} onClick={() => props.onChange(crypto.randomUUID())} />
      )}
    </div>
  );
}
