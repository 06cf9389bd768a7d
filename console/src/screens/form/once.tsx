/** A secret that the server shows once, when it is made. */

import type { JSX } from "preact";
import { t } from "../../i18n";
import { announce, Button, Dialog } from "../../ui";

export function Once({ secret, onDone }: { secret: string; onDone(): void }): JSX.Element {
  const copy = (): void => {
    navigator.clipboard.writeText(secret).then(() => announce(t("forms.copied")), () => undefined);
  };
  return (
    <Dialog title={t("forms.once_title")} dismissable={false} onClose={onDone} actions={<Button kind="primary" onClick={onDone}>{t("ui.close")}</Button>}>
      <div class="stack">
        <p>{t("forms.once_text")}</p>
        <div class="input-with">
          <input class="input input-code" aria-label={t("forms.once_title")} readOnly value={secret} dir="ltr" onFocus={(event) => event.currentTarget.select()} />
          <Button icon="copy" onClick={copy}>
            {t("forms.copy")}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
