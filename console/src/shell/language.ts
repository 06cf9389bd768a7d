/** Another language: of the console's own texts, and of what is declared. */

import { api, startApi } from "../api";
import { chooseLanguage, type Language } from "../i18n";

export async function changeLanguage(wanted: Language): Promise<void> {
  // Without the description in this language its texts stay as they are; the console's own ones change.
  await startApi(api().http, sessionStorage, wanted).catch(() => undefined);
  await chooseLanguage(wanted);
}
