/** What stands above a form: messages of the server, unsaved work from earlier, a network that is gone. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { FormScope } from "../../controls/types";
import { locale, t } from "../../i18n";
import { namesOf } from "../../model/messages";
import { dateText } from "../../model/moments";
import { Button, Dialog, Icon } from "../../ui";
import { Comparison } from "./comparison";
import type { Keeper } from "./keeper";
import type { Session } from "./session";

export function Summary({ session }: { session: Session }): JSX.Element | null {
  const rest = session.store.summary.value;
  const errors = Object.entries(session.store.errors.value);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The first field with a message has the focus, where there is one.
    if (rest.length > 0 && errors.length === 0) {
      box.current?.focus();
    }
  }, [rest]);
  if (rest.length === 0 && errors.length === 0) {
    return null;
  }
  return (
    <div ref={box} class="notice notice-bad form-summary" role="alert" tabIndex={-1}>
      <p>{t("forms.refused", { count: rest.length + errors.length })}</p>
      <ul>
        {rest.map((message) => (
          <li key={message}>{message}</li>
        ))}
        {errors.map(([at, message]) => (
          <li key={at}>
            <button type="button" class="link-button" onClick={() => focusField(at)}>
              {namesOf(at, session.fields.value, (place) => t("forms.item", { place }))}
            </button>
            : {message}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Moves the focus to the control of a place in the record, opening what hides it. */
export function focusField(at: string): void {
  const row = document.querySelector(`[data-field="${CSS.escape(at.split(".")[0] ?? at)}"]`);
  const target = row?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? row?.querySelector<HTMLElement>("input, select, textarea, [contenteditable='true'], button, a[href]");
  for (let folded = target?.closest("details"); folded !== null && folded !== undefined; folded = folded.parentElement?.closest("details")) {
    folded.open = true;
  }
  target?.scrollIntoView({ block: "center" });
  target?.focus({ preventScroll: true });
}

export function focusFirstError(session: Session): void {
  const errors = session.store.errors.peek();
  const first = [...document.querySelectorAll<HTMLElement>("[data-field]")].map((row) => row.dataset["field"] ?? "").find((path) => Object.keys(errors).some((at) => at === path || at.startsWith(`${path}.`)));
  if (first !== undefined) {
    focusField(first);
  }
}

export function Offered({ keeper, session, scope }: { keeper: Keeper; session: Session; scope: FormScope }): JSX.Element | null {
  const [open, setOpen] = useState(false);
  const offer = keeper.offer.value;
  if (offer === null) {
    return null;
  }
  const when = dateText(new Date(offer.at), session.api.description.site.timezone, locale.value);
  const rows = Object.entries(offer.values).flatMap(([path, value]) => {
    const field = session.fields.value.find((one) => one.path === path);
    return field === undefined ? [] : [{ field, before: session.store.base()[path], after: value }];
  });
  const restore = (): void => {
    keeper.restore();
    setOpen(false);
  };
  const discard = (): void => {
    keeper.discard();
    setOpen(false);
  };
  const buttons = (
    <>
      <Button small onClick={discard}>
        {t("forms.discard")}
      </Button>
      <Button small kind="primary" onClick={restore}>
        {t("forms.restore")}
      </Button>
    </>
  );
  return (
    <div class="notice form-offer" role="region" aria-label={t("forms.unsaved_work")}>
      <Icon name="restore" />
      <p>
        {t(offer.from === "browser" ? "forms.offer_browser" : "forms.offer_server", { when })}
        {offer.outdated && ` ${t("forms.offer_outdated")}`}
      </p>
      <Button small onClick={() => setOpen(true)}>
        {t("forms.compare")}
      </Button>
      {buttons}
      {open && (
        <Dialog title={t("forms.unsaved_work")} kind="wide" onClose={() => setOpen(false)} actions={buttons}>
          <Comparison rows={rows} before={t("forms.saved_version")} after={t("forms.unsaved_version")} scope={scope} />
        </Dialog>
      )}
    </div>
  );
}

export function Offline({ session, onRetry }: { session: Session; onRetry(): void }): JSX.Element | null {
  if (session.progress.value !== "offline") {
    return null;
  }
  return (
    <div class="notice notice-warn form-offer" role="alert">
      <Icon name="warning" />
      <p>{t("forms.offline")}</p>
      <Button small icon="refresh" onClick={onRetry}>
        {t("ui.retry")}
      </Button>
    </div>
  );
}

/** What became of the last change, in a few words beside the buttons. */
export function ProgressText({ session, keeper }: { session: Session; keeper: Keeper }): JSX.Element {
  const { progress, savedAt, store } = session;
  const time = savedAt.value === null ? "" : dateText(new Date(savedAt.value), session.api.description.site.timezone, locale.value, "time");
  const text = ((): string => {
    if (progress.value === "saving") {
      return t("forms.saving");
    }
    if (store.dirty.value) {
      return t(keeper.refused.value ? "forms.not_kept" : keeper.kept.value ? "forms.kept" : "forms.not_saved");
    }
    return savedAt.value === null ? "" : t("forms.saved_at", { time });
  })();
  return (
    <span class="form-progress soft">
      {text}
    </span>
  );
}
