/** A list of short texts. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { announce, Button } from "../ui";
import { useFlush } from "./flush";
import { textOption, type ControlProps } from "./types";

export function Tokens({ field, ids, value, onChange, readOnly, form, at }: ControlProps): JSX.Element {
  const words: unknown[] = Array.isArray(value) ? value : [];
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const add = (typed: string): void => {
    const fresh = typed.trim();
    setText("");
    if (fresh === "" || (field.bounds.uniqueItems === true && words.includes(fresh))) {
      return;
    }
    onChange([...words, fresh]);
    announce(t("forms.added", { name: fresh }));
  };
  useFlush(form, (settled) => settled && add(text));
  const remove = (place: number): void => {
    onChange(words.filter((_, index) => index !== place));
    announce(t("forms.removed", { name: String(words[place]) }));
    input.current?.focus();
  };
  return (
    <div class="stack-tight">
      {words.length > 0 && (
        <ul class="tokens">
          {words.map((word, place) => (
            <li key={place} class={`token${form.error(`${at}.${place}`) === undefined ? "" : " token-wrong"}`}>
              <span dir="auto">{String(word)}</span>
              {!readOnly && <Button kind="quiet" small icon="close" label={t("ui.remove", { name: String(word) })} onClick={() => remove(place)} />}
            </li>
          ))}
        </ul>
      )}
      {!readOnly && (
        <div class="input-with">
          <input
            {...ids}
            ref={input}
            class="input"
            autocomplete="off"
            value={text}
            placeholder={textOption(field, "placeholder") ?? t("forms.token_hint")}
            onInput={(event) => setText(event.currentTarget.value)}
            onBlur={() => add(text)}
            onKeyDown={(event) => {
              if (event.key === "Enter" || (event.key === "," && text.trim() !== "")) {
                event.preventDefault();
                add(text);
              } else if (event.key === "Backspace" && text === "" && words.length > 0) {
                remove(words.length - 1);
              }
            }}
          />
          <Button icon="add" label={t("forms.add")} disabled={text.trim() === ""} onClick={() => add(text)} />
        </div>
      )}
    </div>
  );
}
