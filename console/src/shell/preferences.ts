/** Choices of this browser's user: theme, density, columns of lists. */

import { signal } from "@preact/signals";

const PLACE = "console.preferences";
type Kept = Record<string, unknown>;

function read(): Kept {
  try {
    const told: unknown = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
    return typeof told === "object" && told !== null ? (told as Kept) : {};
  } catch {
    return {};
  }
}

const kept = signal<Kept>(read());

/** A choice by its name; what is not of the kind of `otherwise` counts as absent. */
export function preference<T>(name: string, otherwise: T): T {
  const value = kept.value[name];
  if (Array.isArray(otherwise) !== Array.isArray(value)) return otherwise;
  return typeof value === typeof otherwise ? (value as T) : otherwise;
}

export function prefer(name: string, value: unknown): void {
  const next = { ...kept.peek(), [name]: value };
  if (value === undefined) delete next[name];
  kept.value = next;
  try {
    localStorage.setItem(PLACE, JSON.stringify(next));
  } catch {
    // The choice holds for this visit.
  }
}

export type Theme = "auto" | "light" | "dark";

/** Puts theme and density on the page. */
export function applyLook(): void {
  const root = document.documentElement;
  const theme = preference<string>("theme", "auto");
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  else delete root.dataset["theme"];
  root.dataset["density"] = preference("density", "comfortable");
}
