/** Names of properties as words that people read, in the language of the page where there are translations. */

/** Texts of schemas in the language of the page, by those of the declarations. */
let translations: Readonly<Record<string, string>> = {};

/** What the description says of texts of schemas. */
export function useTranslations(texts: Readonly<Record<string, string>> = {}): void {
  translations = texts;
}

/** A text of the declarations in the language of the page. */
export function say(text: string): string {
  return Object.hasOwn(translations, text) ? (translations[text] ?? text) : text;
}

const WORDS: Record<string, string> = {
  id: "ID", url: "URL", uri: "URI", ip: "IP", html: "HTML", css: "CSS", json: "JSON", uuid: "UUID", gmt: "UTC", email: "E-mail", api: "API", rss: "RSS", seo: "SEO", isbn: "ISBN",
};

/** `menu_order`, `menuOrder` and `menu-order` are "Menu order". */
export function words(name: string): string {
  const parts = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .split(/[\s_\-.:/]+/u)
    .filter((part) => part !== "");
  const text = parts.map((part) => WORDS[part.toLowerCase()] ?? (/^\p{Lu}+$/u.test(part) ? part : part.toLowerCase())).join(" ");
  return text === "" ? name : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Words that say nothing beside a label. */
const EMPTY = new Set([
  ...["a", "an", "the", "of", "its", "this", "record", "item", "value", "is", "that", "shown"],
  ...["der", "die", "das", "des", "dem", "ein", "eine", "eines", "einer", "dieses", "dieser", "eintrag", "eintrags", "wert"],
]);

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A help text, unless the label says as much: "Title of the record." under "Title". */
export function helpBeside(label: string, name: string, help: string): string {
  const known = new Set([...wordsIn(label), ...wordsIn(words(name)), ...EMPTY]);
  return wordsIn(help).every((word) => known.has(word)) ? "" : help;
}
