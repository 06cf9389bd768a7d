/** What the server tells once, such as the text of a password. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { t } from "../i18n";
import { humanName } from "../model/record";
import { Button, Dialog } from "../ui";

interface SecretProps {
  title: string;
  values: [string, string][];
  onClose: () => void;
}

export function SecretDialog({ title, values, onClose }: SecretProps): JSX.Element {
  return (
    <Dialog
      title={title}
      dismissable={false}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t("people.secret_kept")}
        </Button>
      }
    >
      <div class="stack">
        <p>{t("people.secret_once")}</p>
        {values.map(([name, value]) => (
          <Secret key={name} name={humanName(name)} value={value} />
        ))}
      </div>
    </Dialog>
  );
}

function Secret({ name, value }: { name: string; value: string }): JSX.Element {
  const [note, setNote] = useState("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setNote(t("people.copied"));
    } catch {
      setNote(t("people.not_copied"));
    }
  };
  return (
    <div class="field">
      <span class="field-label">{name}</span>
      <div class="row">
        <code class="secret" tabIndex={0}>
          {value}
        </code>
        <Button icon="copy" onClick={() => void copy()}>
          {t("people.copy")}
        </Button>
        <span class="soft" role="status">
          {note}
        </span>
      </div>
    </div>
  );
}
