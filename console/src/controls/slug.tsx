/** The name of a record in its address, with the address that follows from it. */

import type { JSX } from "preact";
import { t } from "../i18n";
import { shownText, textValue } from "./text";
import type { ControlProps } from "./types";

/** The address of a record with its slug replaced; null where it cannot be told. */
export function addressWith(record: Record<string, unknown>, slug: string): string | null {
  const template = record["permalink_template"];
  if (typeof template === "string" && /%[a-z_]+name%/.test(template)) {
    return template.replace(/%[a-z_]+name%/, slug);
  }
  const link = record["link"];
  const saved = record["slug"];
  if (typeof link !== "string" || typeof saved !== "string" || saved === "") {
    return null;
  }
  const at = link.lastIndexOf(`/${saved}`) + 1;
  const rest = link.slice(at + saved.length);
  return at === 0 || !/^\/?$/.test(rest) ? null : link.slice(0, at) + slug + rest;
}

export function Slug({ field, ids, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const record = form.record();
  const generated = typeof record["generated_slug"] === "string" ? record["generated_slug"] : "";
  const text = shownText(value);
  const shown = text === "" ? generated : text;
  const address = shown === "" ? null : addressWith(record, shown);
  return (
    <div class="stack-tight">
      <input
        {...ids}
        class="input"
        value={text}
        placeholder={generated === "" ? t("forms.slug_from_title") : generated}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        readOnly={readOnly}
        onInput={(event) => onChange(textValue(event.currentTarget.value, field))}
      />
      {address !== null && (
        <p class="field-help address" dir="ltr">
          {address}
        </p>
      )}
    </div>
  );
}
