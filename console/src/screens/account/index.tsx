/** The caller's own account: the record, what belongs to it, and how the console looks and speaks. */

import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { api } from "../../api";
import { language, LANGUAGES, t, type Language } from "../../i18n";
import { labelOf } from "../../model/record";
import { below, ownResource } from "../../related/panels";
import { BelowPanel } from "../../related/below";
import { href, places } from "../../router";
import { changeLanguage } from "../../shell/language";
import { Page } from "../../shell/page";
import { prefer, preference } from "../../shell/preferences";
import { Failed, LinkButton, Skeleton } from "../../ui";
import { useLoad } from "../../ui/hooks";
import type { ScreenProps } from "../table";
import "../../related/related.css";

const ME = "get_me";
const THEMES = ["auto", "light", "dark"] as const;
const DENSITIES = ["comfortable", "compact"] as const;

export function AccountScreen(_: ScreenProps): JSX.Element {
  const { http, description } = api();
  const resource = ownResource(description);
  const loaded = useLoad(async (signal) => (resource === null ? null : (await api().adapter.call<Record<string, unknown>>(resource, ME, { signal })).data), [resource]);
  const item = loaded.data ?? null;
  const edits = resource !== null && resource.operations["update"] !== undefined;
  return (
    <Page title={t("people.account")} width="narrow">
      {resource !== null && loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {resource !== null && item === null && loaded.error === null && <Skeleton lines={2} />}
      {resource !== null && item !== null && (
        <section class="record-panel account-card">
          <div>
            <h2>{labelOf(resource, item, (id) => `${resource.singular} ${id}`)}</h2>
          </div>
          <span class="spread" />
          {edits ? (
            <LinkButton icon="edit" href={href(places.item(resource.name, http.boot.user))}>
              {t("people.edit_profile")}
            </LinkButton>
          ) : (
            <LinkButton icon="user" href={http.boot.profile_url}>
              {t("people.edit_profile")}
            </LinkButton>
          )}
          <LinkButton icon="key" href={http.boot.profile_url}>
            {t("people.login_page")}
          </LinkButton>
          <LinkButton icon="lock" href={http.boot.factors_url}>
            {t("people.second_factor")}
          </LinkButton>
        </section>
      )}
      <Looks />
      {resource !== null && below(resource, description).flatMap((panel) => (panel.kind === "below" ? [<BelowPanel key={panel.resource.name} resource={panel.resource} parameter={panel.parameter} owner={http.boot.user} />] : []))}
    </Page>
  );
}

function Looks(): JSX.Element {
  const id = useId();
  return (
    <section class="record-panel" aria-labelledby={id}>
      <header class="record-head">
        <h2 id={id}>{t("people.console")}</h2>
      </header>
      <div class="account-choices">
        <Choice label={t("people.language")} value={language.value} values={Object.entries(LANGUAGES)} onChange={(tag) => void changeLanguage(tag as Language)} />
        <Choice label={t("people.theme")} value={preference<string>("theme", "auto")} values={THEMES.map((name) => [name, t(`people.theme_${name}`)])} onChange={(name) => prefer("theme", name)} />
        <Choice label={t("people.density")} value={preference<string>("density", "comfortable")} values={DENSITIES.map((name) => [name, t(`people.density_${name}`)])} onChange={(name) => prefer("density", name)} />
      </div>
    </section>
  );
}

function Choice({ label, value, values, onChange }: { label: string; value: string; values: [string, string][]; onChange: (value: string) => void }): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label class="field-label" htmlFor={id}>
        {label}
      </label>
      <select id={id} class="select" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {values.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
