/** Short messages at the edge of the screen, read out by assistive technology. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { messageOf } from "../api/http";
import { t } from "../i18n";
import { Button } from "./button";
import { Icon } from "./icon";

interface Toast {
  id: number;
  kind: "done" | "info" | "problem";
  text: string;
  actions: readonly Action[];
}

interface Action {
  label: string;
  run: () => void;
}

const shown = signal<Toast[]>([]);
let last = 0;
/** Problems stay until they are dismissed. */
const LIFETIME = 6000;

function add(kind: Toast["kind"], text: string, action: Action | readonly Action[] = []): number {
  const id = ++last;
  const actions = "label" in action ? [action] : action;
  shown.value = [...shown.value.slice(-3), { id, kind, text, actions }];
  if (kind !== "problem") setTimeout(() => dismiss(id), actions.length === 0 ? LIFETIME : LIFETIME * 2);
  return id;
}

function dismiss(id: number): void {
  shown.value = shown.value.filter((toast) => toast.id !== id);
}

export const toast = {
  done: (text: string, action?: Action | readonly Action[]): number => add("done", text, action),
  info: (text: string, action?: Action | readonly Action[]): number => add("info", text, action),
  problem: (text: string, action?: Action | readonly Action[]): number => add("problem", text, action),
  /** The message of anything that was thrown. */
  failed: (error: unknown): number => add("problem", messageOf(error)),
  dismiss,
};

/** The place where messages appear; once, in the shell. Each message is a live region: the place is none, so that it is read once. */
export function Toasts(): JSX.Element {
  return (
    <section class="toasts" aria-label={t("ui.notifications")}>
      {shown.value.map((one) => (
        <div key={one.id} class={`toast toast-${one.kind}`} role={one.kind === "problem" ? "alert" : "status"}>
          <Icon name={one.kind === "problem" ? "warning" : one.kind === "done" ? "check" : "info"} />
          <p>{one.text}</p>
          {one.actions.map((action) => (
            <Button
              key={action.label}
              small
              onClick={() => {
                action.run();
                dismiss(one.id);
              }}
            >
              {action.label}
            </Button>
          ))}
          <Button kind="quiet" small icon="close" label={t("ui.dismiss")} onClick={() => dismiss(one.id)} />
        </div>
      ))}
    </section>
  );
}

const spoken = signal("");

/** Says something to assistive technology alone, such as how many records were found. */
export function announce(text: string): void {
  // The same text twice is read once: an invisible sign makes them differ.
  spoken.value = spoken.value === text ? `${text}\u200b` : text;
}

/** The region that `announce` writes into; once, in the shell. */
export function Announcements(): JSX.Element {
  return (
    <div class="hidden-visually" role="status" aria-live="polite">
      {spoken.value}
    </div>
  );
}
