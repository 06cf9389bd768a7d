/** Names of properties as words that people read. */

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
const EMPTY = new Set(["a", "an", "the", "of", "its", "this", "record", "item", "value", "is", "that", "shown"]);

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A help text, unless the label says as much: "Title of the record." under "Title". */
export function helpBeside(label: string, name: string, help: string): string {
  const known = new Set([...wordsIn(label), ...wordsIn(words(name)), ...EMPTY]);
  return wordsIn(help).every((word) => known.has(word)) ? "" : help;
}
