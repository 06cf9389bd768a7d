/** Who else has the record open, above its form; and that somebody has taken it over. */

import type { JSX } from "preact";
import { api } from "../../api";
import { t } from "../../i18n";
import { Button, Dialog, Icon, toast } from "../../ui";
import { type Other, presence, takeOver, usePresence } from "../../shell/presence";
import type { Session } from "../form/session";

interface PresenceProps {
  session: Session;
  /** Leads away from the record; what is not saved stays in this browser. */
  onLeave: () => void;
}

export function PresenceBar({ session, onLeave }: PresenceProps): JSX.Element | null {
  const id = session.id.value;
  usePresence(session.resource, session.mayWrite() ? id : null);
  const { others, takenBy } = presence.value;
  const here = others.filter((other) => other.item === id);
  if (here.length === 0) return null;
  const take = (): void => void takeOver().catch(toast.failed);
  const taker = here.find((other) => other.user === takenBy);
  if (taker !== undefined) return <TakenOver name={nameOf(taker)} onTake={take} onLeave={onLeave} />;
  return (
    <div class="notice form-offer" role="status">
      <Icon name="user" />
      <p>{here.every(isOwn) ? t("shell.presence_own") : t("shell.presence_here", { names: here.filter((other) => !isOwn(other)).map(nameOf).join(", ") })}</p>
      <Button small onClick={take}>
        {t("shell.take_over")}
      </Button>
    </div>
  );
}

function TakenOver({ name, onTake, onLeave }: { name: string; onTake: () => void; onLeave: () => void }): JSX.Element {
  return (
    <Dialog
      title={t("shell.taken_over", { name })}
      onClose={onLeave}
      actions={
        <>
          <Button onClick={onTake}>{t("shell.take_over")}</Button>
          <Button kind="primary" onClick={onLeave}>
            {t("shell.back_to_list")}
          </Button>
        </>
      }
    >
      <p>{t("shell.taken_over_text")}</p>
    </Dialog>
  );
}

function isOwn(other: Other): boolean {
  return other.user === api().http.boot.user;
}

function nameOf(other: Other): string {
  if (isOwn(other)) return t("shell.you");
  return other.name === "" ? `#${other.user}` : other.name;
}
