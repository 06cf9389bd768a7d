/** The menu of the person who is logged in. */

import type { JSX } from "preact";
import { api } from "../api";
import { language, LANGUAGES, t, type Language } from "../i18n";
import { href, places } from "../router";
import { Icon, Menu, type MenuItem } from "../ui";
import { changeLanguage } from "./language";
import { prefer, preference, type Theme } from "./preferences";
import { helpOpen } from "./shortcuts";

const THEMES: { name: Theme; icon: string }[] = [
  { name: "auto", icon: "palette" },
  { name: "light", icon: "sun" },
  { name: "dark", icon: "moon" },
];

export function UserMenu(): JSX.Element {
  const { boot } = api().http;
  const theme = preference<string>("theme", "auto");
  const items: MenuItem[] = [
    { name: "profile", label: t("people.account"), icon: "user", href: href(places.account()) },
    { name: "site", label: t("shell.visit"), icon: "globe", href: api().description.site.url },
    { name: "shortcuts", label: t("shell.shortcuts"), icon: "keyboard", onSelect: () => (helpOpen.value = true) },
    ...THEMES.map(
      ({ name, icon }, place): MenuItem => ({
        name: `theme-${name}`,
        label: t(`shell.theme_${name}`),
        icon,
        checked: theme === name,
        separated: place === 0,
        onSelect: () => prefer("theme", name),
      }),
    ),
    ...(Object.keys(LANGUAGES) as Language[]).map(
      (tag, place): MenuItem => ({
        name: `language-${tag}`,
        label: LANGUAGES[tag],
        icon: "globe",
        checked: language.value === tag,
        separated: place === 0,
        onSelect: () => void changeLanguage(tag),
      }),
    ),
    { name: "logout", label: t("shell.log_out"), icon: "logout", separated: true, href: boot.logout_url },
  ];
  return (
    <Menu label={t("shell.account")} items={items} placement="top-start">
      <Icon name="user" />
      <span class="user-name">{boot.user_name ?? t("shell.account")}</span>
    </Menu>
  );
}
