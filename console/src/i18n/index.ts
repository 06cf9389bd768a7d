/**
 * Texts by key, in the language that somebody chose.
 *
 * `t("lists.selected", { count: 3 })`: `{count}` is replaced; a text with plural forms is chosen by `count`. The texts of
 * an area are in `en/AREA.ts` and `de/AREA.ts`; the compiler refuses a key that one of them lacks.
 */

import { computed, signal } from "@preact/signals";
import * as en from "./en";
import { formatOf } from "./formats";

/** A text, or its plural forms by the categories of `Intl.PluralRules`. */
export type Message = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
type Areas = typeof en;
/** Each area in another language has the same keys. */
export type Texts = { [A in keyof Areas]: { [K in keyof Areas[A]]: Message } };
export type Key = { [A in keyof Areas]: `${A & string}.${keyof Areas[A] & string}` }[keyof Areas];
export type Values = Record<string, string | number>;

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

const loaders: Record<Language, () => Promise<Texts>> = { en: () => Promise.resolve(en), de: () => import("./de") };

const texts = signal<Texts>(en);
export const language = signal<Language>("en");
/** The language in the region of the browser, such as "en-GB": how numbers, dates and times are written. */
export const locale = computed(() => navigator.languages.find((tag) => tag.split("-")[0] === language.value) ?? language.value);
const KEPT = "console.language";

/** The kept language, else the first of the browser's that there is. */
export function preferredLanguage(wanted?: string): Language {
  const candidates = [wanted, kept(), ...navigator.languages].map((tag) => tag?.split("-")[0]);
  return (candidates.find((tag) => tag !== undefined && tag in LANGUAGES) ?? "en") as Language;
}

/** Loads the texts of a language; without one the preferred one. */
export async function useLanguage(wanted?: string): Promise<void> {
  const chosen = preferredLanguage(wanted);
  texts.value = await loaders[chosen]();
  language.value = chosen;
  document.documentElement.lang = chosen;
}

/** Chooses a language for later visits, too. */
export async function chooseLanguage(wanted: Language): Promise<void> {
  try {
    localStorage.setItem(KEPT, wanted);
  } catch {
    // The choice holds for this visit.
  }
  await useLanguage(wanted);
}

function kept(): string | undefined {
  try {
    return localStorage.getItem(KEPT) ?? undefined;
  } catch {
    return undefined;
  }
}

export function t(key: Key, values: Values = {}): string {
  const [area, name] = key.split(".", 2) as [keyof Areas, string];
  const message = (texts.value[area] as Record<string, Message>)[name] ?? key;
  return format(message, values, language.value);
}

/** Texts that a part of the console has with it, such as a block of the editor; the compiler refuses a key that a language lacks. */
export function textsOf<K extends string>(all: Record<Language, Record<K, Message>>): (key: K, values?: Values) => string {
  return (key, values = {}) => format(all[language.value][key], values, language.value);
}

/** A message with its values; for tests, too. */
export function format(message: Message, values: Values, tag: string): string {
  const text = typeof message === "string" ? message : plural(message, Number(values["count"] ?? 0), tag);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? number(value, tag) : value;
  });
}

function plural(forms: Exclude<Message, string>, count: number, tag: string): string {
  if (count === 0 && forms.zero !== undefined) return forms.zero;
  return forms[formatOf(Intl.PluralRules, tag, {}).select(count)] ?? forms.other;
}

export function number(value: number, tag: string = locale.value): string {
  // Every language of the console writes these as they are; the first list needs no format for the number of its page.
  if (Number.isInteger(value) && value >= 0 && value < 1000) return String(value);
  return formatOf(Intl.NumberFormat, tag, {}).format(value);
}
