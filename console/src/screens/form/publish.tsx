/** A look at a record before it becomes public, and what can be done with it afterwards. */

import { signal, type Signal } from "@preact/signals";
import type { JSX } from "preact";
import { locale, t } from "../../i18n";
import { show } from "../../model/dates";
import { lacks, type Lack } from "../../model/publishing";
import { DATE, LINK, PASSWORD } from "../../model/roles";
import type { Step } from "../../model/states";
import { Button, Dialog, Icon, toast } from "../../ui";
import type { Session } from "./session";

interface Question {
  step: Step;
  answer(yes: boolean): void;
}

/** The question of one form. */
export class PublishCheck {
  readonly question: Signal<Question | null> = signal(null);

  ask(step: Step): Promise<boolean> {
    this.question.peek()?.answer(false);
    return new Promise((resolve) => {
      this.question.value = {
        step,
        answer: (yes) => {
          this.question.value = null;
          resolve(yes);
        },
      };
    });
  }
}

export function PublishDialog({ check, session }: { check: PublishCheck; session: Session }): JSX.Element | null {
  const question = check.question.value;
  if (question === null) {
    return null;
  }
  const { step, answer } = question;
  const values = session.store.values();
  const missing = lacks(session.fields.value, values, session.api.description);
  const date = values[DATE];
  const later = step.kind === "schedule" && typeof date === "string";
  const when = later ? show(date, session.api.description.site.timezone, locale.value) : t("forms.immediately");
  const password = values[PASSWORD];
  return (
    <Dialog
      title={t(later ? "forms.schedule_question" : "forms.publish_question")}
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)}>{t("ui.cancel")}</Button>
          <Button kind="primary" autofocus onClick={() => answer(true)}>
            {t(later ? "forms.schedule_action" : "forms.publish")}
          </Button>
        </>
      }
    >
      <div class="stack">
        <dl class="publish-summary">
          <dt>{t("forms.publish_when")}</dt>
          <dd>{when}</dd>
          <dt>{t("forms.publish_who")}</dt>
          <dd>{t(typeof password === "string" && password !== "" ? "forms.publish_password" : "forms.publish_everybody")}</dd>
        </dl>
        {missing.length > 0 && (
          <ul class="publish-lacks">
            {missing.map((lack) => (
              <li key={"field" in lack ? lack.field.path : lack.kind}>
                <Icon name="warning" size={16} />
                <span>{lackText(lack)}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  );
}

function lackText(lack: Lack): string {
  switch (lack.kind) {
    case "title":
      return t("forms.lacks_title");
    case "alt":
      return t("forms.lacks_alt", { count: lack.count });
    default:
      return t("forms.lacks_value", { name: lack.field.label });
  }
}

/** Says that a record is public now, with a way to it. */
export function published(session: Session, text: string): void {
  const link = session.record.peek()[LINK];
  if (typeof link !== "string" || !/^https?:/i.test(link)) {
    toast.done(text);
    return;
  }
  toast.done(text, [
    { label: t("forms.view"), run: () => void open(link, "_blank", "noopener") },
    { label: t("forms.copy_link"), run: () => void navigator.clipboard?.writeText(link).catch((error: unknown) => toast.failed(error)) },
  ]);
}
