/** Keys that do something anywhere on a screen, and the dialog that lists them. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { t } from "../i18n";
import { Dialog } from "../ui";
import { useLatest } from "../ui/hooks";
import { prefer, preference } from "./preferences";

export interface Shortcut {
  /** "mod+k", "?", "j"; "mod" is the command key of a Mac, else Ctrl. */
  keys: string;
  label: string;
  run: (event: KeyboardEvent) => void;
  /** Listed, but handled by the element that has the focus. */
  listed?: boolean;
}

const active = signal<{ get: () => Shortcut[] }[]>([]);
export const helpOpen = signal(false);

const MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** Shortcuts as long as the component is there. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const latest = useLatest(shortcuts);
  useEffect(() => {
    const entry = { get: () => latest.current };
    active.value = [...active.peek(), entry];
    return () => {
      active.value = active.peek().filter((one) => one !== entry);
    };
  }, []);
}

/** Whether keys without Ctrl or Command do something: people who speak to the computer turn them off. */
export function singleKeys(): boolean {
  return preference("single-keys", true);
}

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit", "reset", "file"].includes(target.type);
  return target.isContentEditable || /^(textarea|select)$/i.test(target.tagName);
}

function keysOf(event: KeyboardEvent): string {
  const mod = MAC ? event.metaKey : event.ctrlKey;
  return `${mod ? "mod+" : ""}${event.key.length === 1 && mod ? event.key.toLowerCase() : event.key}`;
}

export function startShortcuts(): void {
  document.addEventListener("keydown", (event) => {
    const keys = keysOf(event);
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const plain = !keys.startsWith("mod+");
    if (plain && (typing(event.target) || !singleKeys() || document.querySelector("dialog[open], [role='menu']") !== null)) return;
    // The newest first: what is on top handles a key.
    for (const entry of active.peek().toReversed()) {
      const found = entry.get().find((shortcut) => shortcut.keys === keys && shortcut.listed !== true);
      if (found === undefined) continue;
      event.preventDefault();
      found.run(event);
      return;
    }
  });
}

/** How keys are written for people. */
export function keyNames(keys: string): string[] {
  return keys.split("+").map((key) => (key === "mod" ? (MAC ? "⌘" : t("shell.control_key")) : key === " " ? t("shell.space") : key.length === 1 ? key.toUpperCase() : key));
}

export function ShortcutHelp(): JSX.Element | null {
  if (!helpOpen.value) return null;
  const all = active.value.flatMap((entry) => entry.get());
  const listed = [...new Map(all.map((shortcut) => [shortcut.keys, shortcut])).values()];
  return (
    <Dialog title={t("shell.shortcuts")} onClose={() => (helpOpen.value = false)}>
      <div class="stack">
        <dl class="shortcuts">
          {listed.map((shortcut) => (
            <div key={shortcut.keys} class="shortcut">
              <dt>{shortcut.label}</dt>
              <dd>
                {keyNames(shortcut.keys).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dd>
            </div>
          ))}
        </dl>
        <label class="check">
          <input type="checkbox" checked={singleKeys()} onChange={(event) => prefer("single-keys", event.currentTarget.checked)} />
          {t("shell.single_keys")}
        </label>
      </div>
    </Dialog>
  );
}
