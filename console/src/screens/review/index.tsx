/** A change that waits for a review: what it would change, and the decision. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, findResource } from "../../api";
import { touched } from "../../api/changes";
import { Failure } from "../../api/failure";
import type { Resource } from "../../api/description";
import { locale, t, type Key } from "../../i18n";
import { show } from "../../model/dates";
import { asText } from "../../model/diff";
import { href, navigate, places } from "../../router";
import { Page } from "../../shell/page";
import { Button, Empty, Failed, Field, LinkButton, Skeleton, toast } from "../../ui";
import { useLoad } from "../../ui/hooks";
import { Comparison } from "../form/comparison";
import { loadForm, type Loaded } from "../form/load";
import { comparedFields, membersWithoutField, reviewOf, type Review } from "./model";
import type { ResourceScreenProps } from "../table";
import "../form/form.css";

interface Opened {
  review: Review;
  /** Of the record; null where the caller cannot read it. */
  form: Loaded | null;
}

async function load(resource: Resource, id: string, signal: AbortSignal): Promise<Opened> {
  const services = api();
  const review = reviewOf((await services.adapter.one(resource, id, { signal })).item);
  const target = findResource(review.resource);
  if (target === undefined || review.state !== "pending") return { review, form: null };
  const form = await loadForm(services, target, String(review.record), {}, null, signal).catch((error: unknown) => {
    if (error instanceof Failure && [401, 403, 404].includes(error.status)) return null;
    throw error;
  });
  return { review, form };
}

export function ReviewScreen({ resource, id }: ResourceScreenProps): JSX.Element {
  const loaded = useLoad((signal) => load(resource, id ?? "", signal), [resource, id]);
  const opened = loaded.data;
  const crumbs = [{ label: resource.label, path: places.list(resource.name) }];
  const title = opened === undefined || opened.review.title === "" ? resource.singular : opened.review.title;
  return (
    <Page title={title} crumbs={crumbs}>
      {loaded.error !== null && <Failed error={loaded.error} onRetry={loaded.reload} />}
      {opened === undefined && loaded.error === null && <Skeleton lines={8} />}
      {opened !== undefined && <Body key={opened.review.seen ?? ""} resource={resource} opened={opened} onOutdated={loaded.reload} />}
    </Page>
  );
}

const NOTICES = ["record_changed", "record_trashed", "record_gone", "user_may_not_edit", "credential_ended"] as const;

function Body({ resource, opened, onOutdated }: { resource: Resource; opened: Opened; onOutdated: () => void }): JSX.Element {
  const { review, form } = opened;
  const { description } = api();
  const target = findResource(review.resource);
  const when = show(review.changed, description.site.timezone, locale.value);
  const changes = review.difference ?? [];
  const rows = form === null ? [] : comparedFields(form.fields, changes);
  const others = form === null ? changes : membersWithoutField(form.fields, changes);
  const notices = NOTICES.filter((notice) => review.notices.includes(notice));
  return (
    <div class="stack">
      <p class="row">
        <span class={`badge badge-${review.state === "published" ? "good" : review.state === "pending" ? "warn" : "calm"}`}>{t(`review.state_${review.state}`)}</span>
        <span class="soft">{t("review.proposed_by", { client: review.client === "" ? t("review.unnamed") : review.client, when })}</span>
        {target !== undefined && !review.notices.includes("record_gone") && (
          <LinkButton icon="edit" href={href(places.item(target.name, review.record))}>
            {t("review.open_record")}
          </LinkButton>
        )}
      </p>
      {review.note !== "" && <p class="notice">{t("review.note_of", { note: review.note })}</p>}
      {notices.map((notice) => (
        <p key={notice} class="notice notice-warn" role="status">
          {t(`review.${notice}` satisfies Key)}
        </p>
      ))}
      {review.state === "pending" && changes.length === 0 && <Empty title={t("review.no_difference")} icon="document" />}
      {rows.length > 0 && <Comparison rows={rows} before={t("review.present")} after={t("review.proposed")} scope={{ description, states: [] }} />}
      {others.map((change) => (
        <section key={change.member} class="comparison-row" aria-label={change.member}>
          <h2 class="comparison-title">{change.member}</h2>
          <pre>{asText(change.present)}</pre>
          <pre>{asText(change.proposed)}</pre>
        </section>
      ))}
      {review.state === "pending" && <Decision resource={resource} review={review} onOutdated={onOutdated} />}
    </div>
  );
}

function Decision({ resource, review, onOutdated }: { resource: Resource; review: Review; onOutdated: () => void }): JSX.Element | null {
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const own = String(review.user) === String(api().http.boot.user);
  const decides = resource.operations["update"] !== undefined;
  if (!decides && !own) return null;
  const decide = async (state: "published" | "returned"): Promise<void> => {
    setBusy(true);
    try {
      await api().adapter.update(resource, review.id, { state, note, ...(state === "published" ? { seen: review.seen } : {}) });
      touched(resource.name);
      if (state === "published") touched(review.resource);
      toast.done(t(state === "published" ? "review.done_published" : "review.done_returned"));
      navigate(places.list(resource.name), { force: true });
    } catch (error) {
      toast.failed(error);
      // What has changed meanwhile is shown before the next try.
      if (error instanceof Failure && error.status === 409) onOutdated();
    }
    setBusy(false);
  };
  const blocked = review.seen === null || review.notices.includes("record_trashed");
  return (
    <section class="record-panel stack" aria-label={t("review.decision")}>
      <Field label={t("review.note")} help={t("review.note_help")}>
        {(ids) => <textarea {...ids} class="input" rows={3} maxLength={2000} value={note} onInput={(event) => setNote(event.currentTarget.value)} />}
      </Field>
      <div class="row">
        <Button kind="primary" icon="check" busy={busy} disabled={blocked} onClick={() => void decide("published")}>
          {t("review.publish")}
        </Button>
        <Button busy={busy} onClick={() => void decide("returned")}>
          {t("review.send_back")}
        </Button>
      </div>
    </section>
  );
}
