/** What is shown when the session has ended, and when the server cannot be reached. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { Button, Dialog, Icon, LinkButton } from "../ui";

export function SessionEnded(): JSX.Element | null {
  return api().http.ended.value ? <LoginAgain /> : null;
}

function LoginAgain(): JSX.Element {
  const { http } = api();
  const [note, setNote] = useState("");
  const look = async (): Promise<void> => {
    try {
      const who = await http.resume();
      if (who !== "same") setNote(t(who === "other" ? "shell.other_user" : "shell.still_out"));
    } catch (error) {
      setNote(messageOf(error));
    }
  };
  useEffect(() => {
    // Somebody comes back from the window where they have logged in.
    const back = (): void => void look();
    addEventListener("focus", back);
    return () => removeEventListener("focus", back);
  }, []);
  return (
    <Dialog
      title={t("shell.session_ended")}
      onClose={() => http.giveUp()}
      actions={
        <>
          <Button onClick={() => http.giveUp()}>{t("ui.cancel")}</Button>
          <Button onClick={() => void look()}>{t("shell.logged_in")}</Button>
          <LinkButton kind="primary" href={http.boot.login_url} target="_blank" rel="opener" icon="external">
            {t("shell.log_in")}
          </LinkButton>
        </>
      }
    >
      <p>{t("shell.session_ended_text")}</p>
      <p role="status">{note}</p>
    </Dialog>
  );
}

export function Unreachable(): JSX.Element | null {
  const { http } = api();
  const [offline, setOffline] = useState(!navigator.onLine);
  useEffect(() => {
    const look = (): void => setOffline(!navigator.onLine);
    addEventListener("online", look);
    addEventListener("offline", look);
    return () => {
      removeEventListener("online", look);
      removeEventListener("offline", look);
    };
  }, []);
  if (!offline && !http.unreachable.value) return null;
  return (
    <div class="banner" role="status">
      <Icon name="warning" />
      <span>{t(offline ? "shell.offline" : "shell.unreachable")}</span>
      <Button small icon="refresh" onClick={() => void http.request("/", { query: { _fields: "name" } }).catch(() => undefined)}>
        {t("ui.retry")}
      </Button>
    </div>
  );
}
