/** The texts of a file that are written beside its picture: which there are, and what a request says of them. */

import type { Item } from "../api/adapter";
import type { Resource } from "../api/description";
import { isObject } from "../api/failure";

export interface FileText {
  name: string;
  /** A text of several lines. */
  long: boolean;
  /** Only pictures have it. */
  pictures: boolean;
}

const TEXTS: FileText[] = [
  { name: "alt_text", long: true, pictures: true },
  { name: "title", long: false, pictures: false },
  { name: "caption", long: true, pictures: false },
  { name: "description", long: true, pictures: false },
];

export function textsOf(resource: Resource, picture: boolean): FileText[] {
  const args = resource.operations["update"]?.args ?? [];
  return TEXTS.filter((text) => args.includes(text.name) && (picture || !text.pictures));
}

/** The text as it is stored. */
export function readText(item: Item, name: string): string {
  const value = item[name];
  const text = isObject(value) ? (value["raw"] ?? value["rendered"]) : value;
  return typeof text === "string" ? text : "";
}

/** What is sent for the texts that differ; empty: nothing. */
export function changedTexts(item: Item, texts: Readonly<Record<string, string>>): Item {
  const body: Item = {};
  for (const [name, text] of Object.entries(texts)) {
    if (text !== readText(item, name)) body[name] = isObject(item[name]) ? { raw: text } : text;
  }
  return body;
}
