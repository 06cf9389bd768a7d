/** What forms of records and of singletons share: saving, messages, conflicts, unsaved work, leaving. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import type { FormScope } from "../../controls/types";
import { t } from "../../i18n";
import { goesPublic, type Step } from "../../model/states";
import { guardLeaving } from "../../router";
import { useShortcuts } from "../../shell/shortcuts";
import { toast } from "../../ui";
import { ConflictDialog } from "./conflict";
import { focusFirstError, Offered, Offline, Summary } from "./notices";
import { published, PublishCheck, PublishDialog } from "./publish";
import { scopeOf } from "./scope";
import type { Outcome, Session } from "./session";
import type { Opened } from "./use-session";

export interface Saving {
  scope: FormScope;
  check: PublishCheck;
  run(step: Step): Promise<void>;
}

/** Saving with everything around it. `onSaved` is called with what came of it. */
export function useSaving({ session, keeper }: Opened, onSaved: (outcome: Outcome) => void): Saving {
  const scope = useMemo(() => scopeOf(session), [session]);
  const check = useMemo(() => new PublishCheck(), [session]);
  const done = (step: Step, outcome: Outcome, wasNew: boolean): void => {
    if (outcome === "saved" || outcome === "created") {
      keeper.saved(wasNew);
      (goesPublic(step) ? published : saved)(session, savedText(session));
      onSaved(outcome);
    } else if (outcome === "unchanged") {
      toast.info(t("forms.unchanged"));
    } else if (outcome === "refused") {
      keeper.flush();
      requestAnimationFrame(() => focusFirstError(session));
    }
  };
  const run = async (step: Step): Promise<void> => {
    // What cannot be saved is said first.
    if (goesPublic(step) && session.isValid() && !(await check.ask(step))) {
      return;
    }
    await keeper.settled();
    const wasNew = session.isNew;
    done(step, await session.save(step), wasNew);
  };
  useEffect(() => keeper.start(), [keeper]);
  useEffect(() => guardLeaving(() => session.store.dirty.peek()), [session]);
  useShortcuts([
    {
      keys: "mod+s",
      label: t("forms.save"),
      run: (event) => {
        event.preventDefault();
        if (document.querySelector("dialog[open]") === null && session.mayWrite()) {
          void run(session.quietStep());
        }
      },
    },
  ]);
  return { scope, check, run };
}

function saved(_: Session, text: string): void {
  toast.done(text);
}

function savedText(session: Session): string {
  const state = session.currentState();
  return state === null ? t("forms.saved") : t("forms.saved_as", { state: state.label });
}

interface FormFrameProps extends Opened {
  saving: Saving;
  label: string;
  children: ComponentChildren;
}

/** How far down bars at the top of the window reach: what sticks below them begins there. */
function useStuck(): void {
  useLayoutEffect(() => {
    const bars = [...document.querySelectorAll<HTMLElement>(".page-head, .topbar")];
    const measure = (): void => {
      const heights = bars.filter((bar) => getComputedStyle(bar).position === "sticky").map((bar) => bar.offsetHeight);
      document.documentElement.style.setProperty("--stuck", `${Math.max(0, ...heights)}px`);
    };
    const observer = new ResizeObserver(measure);
    for (const bar of bars) observer.observe(bar);
    return () => observer.disconnect();
  }, []);
}

export function FormFrame({ session, keeper, saving, label, children }: FormFrameProps): JSX.Element {
  useStuck();
  return (
    <form
      class="form"
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        // Enter in a line saves nothing by accident.
        event.preventDefault();
      }}
    >
      <Offline session={session} onRetry={() => void saving.run(session.quietStep())} />
      <Offered keeper={keeper} session={session} scope={saving.scope} />
      <Summary session={session} />
      {!session.mayWrite() && <p class="notice">{t(session.currentState()?.trash === true ? "forms.in_trash" : "forms.read_only")}</p>}
      {children}
      <Clashes session={session} keeper={keeper} saving={saving} />
      <PublishDialog check={saving.check} session={session} />
    </form>
  );
}

function Clashes({ session, saving, keeper }: Opened & { saving: Saving }): JSX.Element | null {
  const clash = session.clash.value;
  if (clash === null) {
    return null;
  }
  return (
    <ConflictDialog
      clash={clash}
      scope={saving.scope}
      onDone={(choices) => {
        if (choices === null) {
          session.clash.value = null;
          return;
        }
        void session.settle(choices).then((outcome) => {
          if (outcome === "saved" || outcome === "unchanged") {
            keeper.saved(false);
            toast.done(savedText(session));
          } else {
            requestAnimationFrame(() => focusFirstError(session));
          }
        });
      }}
    />
  );
}
