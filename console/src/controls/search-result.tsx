/** What an editor says of a record to search engines and social networks: the values, how long they are, how both show them. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n";
import { kindOf, libraryOf } from "../files/file";
import { addressOf } from "../files/thumbnail";
import { isObject } from "../model/json-schema";
import { plainText, stripHtml, titleField, valueAt } from "../model/record";
import { warningsOf, lengthOf, shownOf, seoDocumentOf, PICTURES, type Picture, type SearchWarning, type Shown, type SeoDocument } from "../model/search-result";
import { withMember } from "../model/values";
import { Icon } from "../ui";
import { useFiles } from "./file";
import { Nested } from "./nested";
import { idsOf } from "./relation";
import { numberOption, textOption, type ControlProps, type FormScope } from "./types";

/** The member of documents for search engines and social networks. */
const SEO = "seo";

export function SearchResult({ field, at, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const seo = useSeoDocument(form);
  const now = isObject(value) ? value : {};
  const before = valueAt(form.record(), field.path);
  const name = titleField(form.resource);
  const titled = (from: unknown): string => stripHtml(plainText(from));
  const around = {
    title: name === null ? "" : titled(form.read(name)),
    savedTitle: name === null ? "" : titled(valueAt(form.record(), name)),
    site: form.description.site.title,
  };
  const shown = shownOf(seo, isObject(before) ? before : {}, now, around, useChosenPicture(form, now[PICTURES[0]]));
  const link = form.record()["link"];
  const limits = { width: numberOption(field, "width") ?? 0, height: numberOption(field, "height") ?? 0 };
  const warnings = warningsOf(shown, now["canonical"], link, isHidden(form, seo, textOption(field, "hidden")), limits);
  const lengths: Record<string, number> = { title: lengthOf(shown.title), description: lengthOf(shown.description) };
  return (
    <div class="fieldset-body">
      <Previews shown={shown} link={typeof link === "string" ? link : form.description.site.url} />
      {warnings.length > 0 && (
        <ul class="result-warnings" aria-label={t("forms.result_warnings")}>
          {warnings.map((warning) => (
            <li key={warning.kind}>
              <Icon name="alert" /> <span>{said(warning, limits)}</span>
            </li>
          ))}
        </ul>
      )}
      {field.children.map((child) => (
        <Nested
          key={child.name}
          field={child}
          at={`${at}.${child.name}`}
          value={now[child.name]}
          onChange={(next) => onChange(withMember(now, child.name, next))}
          readOnly={readOnly}
          form={form}
          aside={<Counter count={lengths[child.name]} limit={numberOption(field, child.name)} />}
        />
      ))}
    </div>
  );
}

/** The member of the record as it is saved; it is requested again after each change. */
function useSeoDocument(form: FormScope): SeoDocument {
  const [seo, setDocument] = useState(() => seoDocumentOf(undefined));
  const record = form.record();
  useEffect(() => {
    if (form.id === null) return undefined;
    const stop = new AbortController();
    form.adapter.one(form.resource, form.id, { query: { _fields: SEO }, signal: stop.signal }).then(
      (one) => setDocument(seoDocumentOf(one.item[SEO])),
      // Without it the preview has what is typed.
      () => undefined,
    );
    return () => stop.abort();
  }, [form.id, record]);
  return seo;
}

/** The picture of the library with an id; null: it is none, or not known yet. */
function useChosenPicture(form: FormScope, id: unknown): Picture | null {
  const [chosen] = idsOf(id);
  const { known } = useFiles(libraryOf(form.description), chosen === undefined ? [] : [chosen], form.adapter);
  const file = known.get(String(chosen));
  return file === undefined || file === null || kindOf(file.mime) !== "image" ? null : { url: file.url, width: file.width, height: file.height };
}

/** Search engines leave out a record that everybody may read. */
function isHidden(form: FormScope, seo: SeoDocument, property: string | undefined): boolean {
  const status = form.record()["status"];
  const open = typeof status !== "string" || form.states.some((state) => state.public && (state.name === status || state.names.includes(status)));
  const chosen = property === undefined ? null : form.read(property);
  if (chosen === true) return open;
  const before = property === undefined ? null : form.record()[property];
  return open && form.id !== null && !seo.index && chosen !== false && before !== true;
}

function said(warning: SearchWarning, limits: { width: number; height: number }): string {
  switch (warning.kind) {
    case "no_description":
      return t("forms.result_no_description");
    case "small":
      return t("forms.result_small", { width: warning.width, height: warning.height, least_width: limits.width, least_height: limits.height });
    case "elsewhere":
      return t("forms.result_elsewhere", { address: warning.address });
    case "hidden":
      return t("forms.result_hidden");
  }
}

/** How long a text is that search engines cut. */
function Counter({ count, limit }: { count: number | undefined; limit: number | undefined }): JSX.Element | null {
  if (count === undefined || limit === undefined) return null;
  return <span class={`result-count${count > limit ? " result-long" : ""}`}>{t(count > limit ? "forms.result_too_long" : "forms.result_length", { length: count, limit })}</span>;
}

function Previews({ shown, link }: { shown: Shown; link: string }): JSX.Element {
  const picture = addressOf(shown.picture?.url ?? null);
  return (
    <div class="result-previews">
      <div role="group" aria-label={t("forms.result_search")} class="result-preview">
        <p class="result-address" dir="ltr">
          {link}
        </p>
        <p class="result-title">{shown.title}</p>
        <p class="result-text">{shown.description}</p>
      </div>
      <div role="group" aria-label={t("forms.result_card")} class="result-preview result-card">
        {picture === null ? <p class="result-picture">{t(missing(shown))}</p> : <img class="result-picture" src={picture} alt="" loading="lazy" />}
        <p class="result-address" dir="ltr">
          {hostOf(link)}
        </p>
        <p class="result-title">{shown.socialTitle}</p>
        <p class="result-text">{shown.socialDescription}</p>
      </div>
    </div>
  );
}

/** Why the card has no picture. The console loads none from other sites. */
function missing(shown: Shown): "forms.result_picture_elsewhere" | "forms.result_picture_later" | "forms.result_no_picture" {
  if (shown.picture !== null) return "forms.result_picture_elsewhere";
  return shown.pictureLater ? "forms.result_picture_later" : "forms.result_no_picture";
}

function hostOf(link: string): string {
  return URL.canParse(link) ? new URL(link).host : link;
}
