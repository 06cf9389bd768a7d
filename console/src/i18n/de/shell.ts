import type { Texts } from "../index";

export const shell: Texts["shell"] = {
  dashboard: "Übersicht",
  not_found: "Diese Seite gibt es nicht.",
  not_found_hint: "Vielleicht ist die Adresse alt, oder Sie dürfen nicht sehen, was dort war.",
  unsaved: "Es gibt Änderungen, die nicht gespeichert sind. Trotzdem weggehen?",
};
