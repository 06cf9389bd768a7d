/** Names of the properties that the contract gives to every site, in the language of the console. */

import { t, type Key } from "../../i18n";

const KEYS: Record<string, Key> = {
  alt_text: "forms.name_alt_text", author: "forms.name_author", caption: "forms.name_caption", comment_status: "forms.name_comment_status",
  content: "forms.name_content", date: "forms.name_date", description: "forms.name_description", email: "forms.name_email",
  excerpt: "forms.name_excerpt", featured_media: "forms.name_featured_media", first_name: "forms.name_first_name", format: "forms.name_format",
  last_name: "forms.name_last_name", link: "forms.name_link", locale: "forms.name_locale", menu_order: "forms.name_menu_order",
  modified: "forms.name_modified", name: "forms.name", nickname: "forms.name_nickname", parent: "forms.parent", password: "forms.name_password",
  ping_status: "forms.name_ping_status", roles: "forms.name_roles", slug: "forms.name_slug", status: "forms.name_status", sticky: "forms.name_sticky",
  template: "forms.name_template", title: "forms.name_title", type: "forms.name_type", url: "forms.name_url", username: "forms.name_username",
};

/** Undefined for a property of the site's own: its declaration names it. */
export function propertyName(name: string): string | undefined {
  const key = Object.hasOwn(KEYS, name) ? KEYS[name] : undefined;
  return key === undefined ? undefined : t(key);
}
