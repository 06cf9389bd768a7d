/** Somebody else has saved the record: both versions, and a choice for each field. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { FormScope } from "../../controls/types";
import { t } from "../../i18n";
import { proposed, type Choice } from "../../model/conflicts";
import { Button, Dialog } from "../../ui";
import { Comparison } from "./comparison";
import type { Clash } from "./session";

interface ConflictProps {
  clash: Clash;
  scope: FormScope;
  /** Null: the form stays as it is. */
  onDone(choices: Record<string, Choice> | null): void;
}

export function ConflictDialog({ clash, scope, onDone }: ConflictProps): JSX.Element {
  const [choices, setChoices] = useState<Record<string, Choice>>(() => Object.fromEntries(clash.conflicts.map((one) => [one.field.path, proposed(one)])));
  const [busy, setBusy] = useState(false);
  const all = (choice: Choice): void => setChoices(Object.fromEntries(clash.conflicts.map((one) => [one.field.path, choice])));
  return (
    <Dialog
      title={t("forms.conflict")}
      kind="wide"
      onClose={() => onDone(null)}
      actions={
        <>
          <Button onClick={() => onDone(null)}>{t("forms.conflict_later")}</Button>
          <Button
            kind="primary"
            busy={busy}
            onClick={() => {
              setBusy(true);
              onDone(choices);
            }}
          >
            {t("forms.conflict_save")}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>{t("forms.conflict_text")}</p>
        <div class="row">
          <Button small onClick={() => all("mine")}>
            {t("forms.take_all_mine")}
          </Button>
          <Button small onClick={() => all("theirs")}>
            {t("forms.take_all_theirs")}
          </Button>
        </div>
        <Comparison
          rows={clash.conflicts.map((one) => ({ field: one.field, before: one.theirs, after: one.mine }))}
          before={t("forms.theirs")}
          after={t("forms.mine")}
          scope={scope}
          foot={({ field }) => (
            <div class="comparison-choice" role="radiogroup" aria-label={t("forms.take_for", { name: field.label })}>
              {(["theirs", "mine"] as const).map((choice) => (
                <label key={choice} class="check">
                  <input type="radio" name={`take-${field.path}`} checked={choices[field.path] === choice} onChange={() => setChoices({ ...choices, [field.path]: choice })} />
                  {t(choice === "mine" ? "forms.take_mine" : "forms.take_theirs")}
                </label>
              ))}
            </div>
          )}
        />
      </div>
    </Dialog>
  );
}
