import type { Texts } from "../index";

export const dashboard: Texts["dashboard"] = {
  create: "Anlegen",
  declarations_filter: "Eine Deklaration suchen",
  declarations_text: "Was der Server anbietet, folgt aus diesen Deklarationen. Geändert werden sie in ihren Dateien.",
  declared: { one: "{count} Deklaration", other: "{count} Deklarationen" },
  drafts: "Ihre Entwürfe",
  health: "Zustand der Website",
  health_ok: "Alles, was geprüft wurde, ist in Ordnung.",
  level_ok: "In Ordnung",
  level_problem: "Problem",
  level_warning: "Warnung",
  line: "Zeile {line}",
  no_problems: "Das letzte Neuladen verlief ohne Probleme.",
  noindex: "Suchmaschinen lassen diese ganze Website aus (site.noindex).",
  nothing_waits: "Nichts zu prüfen.",
  problems: "Probleme des letzten Neuladens",
  recent: "Zuletzt geändert",
  scheduled: "Geplant",
  to_explorer: "Anfragen im Explorer ausprobieren",
  waiting: "Zu prüfen",
};
