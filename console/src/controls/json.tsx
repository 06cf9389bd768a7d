/** Any value, as JSON. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n";
import { equal } from "../model/values";
import type { ControlProps } from "./types";

function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
}

export function Json({ at, ids, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const [text, setText] = useState(() => textOf(value));
  const [wrong, setWrong] = useState<string | null>(null);
  const parsed = parse(text);
  // The value was changed by something else, such as a draft.
  useEffect(() => {
    if (wrong === null && (!parsed.valid || !equal(parsed.value, value ?? null))) {
      setText(textOf(value));
    }
  }, [value]);
  useEffect(() => () => form.setBroken(at, null), []);
  const change = (typed: string): void => {
    setText(typed);
    const next = parse(typed);
    setWrong(next.valid ? null : t("forms.json_wrong"));
    form.setBroken(at, next.valid ? null : t("forms.json_wrong"));
    if (next.valid) {
      onChange(next.value);
    }
  };
  return (
    <div class="stack-tight">
      <textarea
        {...ids}
        class="textarea input-code textarea-grows"
        rows={4}
        spellcheck={false}
        dir="ltr"
        value={text}
        readOnly={readOnly}
        aria-invalid={wrong === null ? ids["aria-invalid"] : "true"}
        aria-describedby={[ids["aria-describedby"], wrong !== null && `${ids.id}-wrong`].filter(Boolean).join(" ") || undefined}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {wrong !== null && (
        <p id={`${ids.id}-wrong`} class="field-error">
          {wrong}
        </p>
      )}
    </div>
  );
}

function parse(text: string): { valid: boolean; value?: unknown } {
  if (text.trim() === "") {
    return { valid: true, value: null };
  }
  try {
    return { valid: true, value: JSON.parse(text) as unknown };
  } catch {
    return { valid: false };
  }
}
