/** Dialogs: the browser's own element, which keeps the focus inside and gives it back. */

import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../i18n";
import { Button } from "./button";

interface DialogProps {
  title: string;
  onClose: () => void;
  children?: ComponentChildren;
  /** Buttons at the end. */
  actions?: ComponentChildren;
  /** "wide" for libraries and comparisons, "side" at the edge of the screen. */
  kind?: "normal" | "wide" | "side";
  /** Escape and the cross close it; false: only its own buttons do. */
  dismissable?: boolean;
}

/** Open as long as it is rendered. */
export function Dialog({ title, onClose, children, actions, kind = "normal", dismissable = true }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog dialog-${kind}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (dismissable) onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        {dismissable && <Button kind="quiet" icon="close" label={t("ui.close")} onClick={onClose} />}
      </header>
      <div class="dialog-body">{children}</div>
      {actions !== undefined && <footer class="dialog-actions">{actions}</footer>}
    </dialog>
  );
}

interface Question {
  title: string;
  text?: string;
  /** Text of the button that goes on. */
  action?: string;
  danger?: boolean;
}

const asked = signal<(Question & { answer: (yes: boolean) => void }) | null>(null);

/** Asks before something that is hard to take back. */
export function confirmed(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

/** Shows the question of `confirmed`; once, in the shell. */
export function Questions(): JSX.Element | null {
  const question = asked.value;
  if (question === null) return null;
  return (
    <Dialog
      title={question.title}
      onClose={() => question.answer(false)}
      actions={
        <>
          <Button onClick={() => question.answer(false)}>{t("ui.cancel")}</Button>
          <Button kind={question.danger === true ? "danger" : "primary"} onClick={() => question.answer(true)}>
            {question.action ?? t("ui.confirm")}
          </Button>
        </>
      }
    >
      {question.text !== undefined && <p>{question.text}</p>}
    </Dialog>
  );
}
