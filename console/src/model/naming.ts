/** Texts about records of a resource that its labels lack. */

import type { Resource } from "../api/description";
import { language, t } from "../i18n";

/** "Add post". */
export function addLabel(resource: Resource): string {
  return resource.labels["add_new_item"] ?? t("lists.add", { name: withinText(resource.singular) });
}

/** A name within a sentence: English writes it small, unless it is an abbreviation. */
function withinText(name: string): string {
  return language.value === "en" && /^\p{Lu}\p{Ll}/u.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}
