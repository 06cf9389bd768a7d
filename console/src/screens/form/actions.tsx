/** The buttons of a form: what they do follows from the states and from what the caller may do. */

import type { JSX } from "preact";
import { t } from "../../i18n";
import { LINK } from "../../model/roles";
import type { Step } from "../../model/states";
import { Button, LinkButton, Menu, type MenuItem } from "../../ui";
import { PreviewButtons } from "./pane";
import type { Preview } from "./preview";
import type { Session } from "./session";

const TEXTS = {
  save: "forms.save", create: "forms.create", saveDraft: "forms.save_draft", publish: "forms.publish", schedule: "forms.schedule",
  submit: "forms.submit", update: "forms.update", revert: "forms.revert", publishNow: "forms.publish_now",
} as const satisfies Record<Step["kind"], string>;

interface ActionsProps {
  session: Session;
  /** Further entries of the menu. */
  more: MenuItem[];
  preview: (() => void) | null;
  /** Previews in the front end; they show changes of what is public, too. */
  front: Preview | null;
  /** Takes the record out of the trash; null where it is not there. */
  restore: (() => void) | null;
  onStep(step: Step): void;
}

export function Actions({ session, more, preview, front, restore, onStep }: ActionsProps): JSX.Element {
  const { primary, secondary, more: steps } = session.steps();
  const busy = session.progress.value === "saving";
  const link = session.record.value[LINK];
  const state = session.currentState();
  const writes = session.mayWrite();
  const visible = typeof link === "string" && /^https?:/i.test(link) && !session.isNew && (state === null || state.public);
  const items: MenuItem[] = [
    ...steps.map((step): MenuItem => ({ name: step.kind, label: t(TEXTS[step.kind]), icon: step.kind === "revert" ? "undo" : "check", onSelect: () => onStep(step) })),
    ...more,
  ];
  return (
    <>
      {visible && (
        <LinkButton kind="quiet" icon="external" href={link} target="_blank" rel="noopener">
          {t("forms.view")}
        </LinkButton>
      )}
      {front !== null && writes && <PreviewButtons preview={front} busy={busy} />}
      {front === null && !visible && preview !== null && writes && (
        <Button kind="quiet" icon="eye" onClick={preview}>
          {t("forms.preview")}
        </Button>
      )}
      {writes && secondary !== null && (
        <Button busy={busy} onClick={() => onStep(secondary)}>
          {t(TEXTS[secondary.kind])}
        </Button>
      )}
      {writes && (
        <Button kind="primary" busy={busy} onClick={() => onStep(primary)}>
          {t(TEXTS[primary.kind])}
        </Button>
      )}
      {restore !== null && (
        <Button kind="primary" icon="restore" onClick={restore}>
          {t("forms.restore_record")}
        </Button>
      )}
      {items.length > 0 && <Menu label={t("forms.more_actions")} icon="more" items={items} />}
    </>
  );
}
