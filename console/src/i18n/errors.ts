/**
 * What the codes of the server's errors say in the language of the page. The server speaks English: what has no text here, and
 * all in English, is shown as the server says it.
 */

import { signal } from "@preact/signals";
import { say, words } from "../model/labels";
import { format, type Language, language } from "./index";

/** Texts by code. `{number}` is the last number in the server's message; other names are members of the error's `data`, of which lists are names of arguments. */
export type ErrorTexts = Readonly<Record<string, string>>;

const loaders: Partial<Record<Language, () => Promise<{ errors: ErrorTexts }>>> = { de: () => import("./de/errors") };
const texts = signal<ErrorTexts>({});

/** Loads the texts of a language. */
export async function loadErrorTexts(chosen: Language): Promise<void> {
  const loaded = await loaders[chosen]?.();
  texts.value = loaded?.errors ?? {};
}

// Nobody waits for them: until they are there, errors are in English.
language.subscribe((chosen) => void loadErrorTexts(chosen).catch(() => {}));

/** The text of a code; null: it has none. `message` is what the server says. */
export function errorText(code: unknown, message: string, data: Readonly<Record<string, unknown>> = {}): string | null {
  if (typeof code !== "string" || !Object.hasOwn(texts.value, code)) return null;
  const values: Record<string, string | number> = { number: /(-?\d+(?:\.\d+)?)\D*$/.exec(message)?.[1] ?? "" };
  for (const [name, value] of Object.entries(data)) {
    if (typeof value === "string" || typeof value === "number") values[name] = value;
    else if (Array.isArray(value)) values[name] = value.map((one) => say(words(String(one)))).join(", ");
  }
  const capability = values["capability"] === undefined ? "" : ` ${texts.value["capability"] ?? ""}`;
  return format(`${texts.value[code] ?? ""}${capability}`, values, language.value);
}
