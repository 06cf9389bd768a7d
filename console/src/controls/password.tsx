/** A password: hidden until somebody wants to see it; one can be made up. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { t } from "../i18n";
import { Button } from "../ui";
import { shownText, textValue } from "./text";
import type { ControlProps } from "./types";

const SIGNS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 20;

/** Twenty signs that cannot be mistaken for each other: some 115 bits. */
export function newPassword(): string {
  const signs: string[] = [];
  while (signs.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      // A remainder would prefer the first signs.
      const sign = byte < 256 - (256 % SIGNS.length) ? SIGNS[byte % SIGNS.length] : undefined;
      if (sign !== undefined && signs.length < LENGTH) {
        signs.push(sign);
      }
    }
  }
  return signs.join("");
}

export function Password({ field, ids, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const [seen, setSeen] = useState(false);
  return (
    <div class="input-with">
      <input
        {...ids}
        {...({ type: seen ? "text" : "password" } as { type: "text" })}
        class="input"
        autocomplete="new-password"
        spellcheck={false}
        value={shownText(value)}
        placeholder={field.secret && form.id !== null ? t("forms.password_kept") : undefined}
        readOnly={readOnly}
        dir="ltr"
        onInput={(event) => onChange(textValue(event.currentTarget.value, field))}
      />
      <Button icon={"eye"} label={t(seen ? "forms.password_hide" : "forms.password_show")} aria-pressed={seen} onClick={() => setSeen(!seen)} />
      {field.secret && !readOnly && (
        <Button
          icon="refresh"
          label={t("forms.generate")}
          onClick={() => {
            setSeen(true);
            onChange(newPassword());
          }}
        />
      )}
    </div>
  );
}
