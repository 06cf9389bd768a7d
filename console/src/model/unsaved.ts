/**
 * Unsaved work in the browser's storage: what differs from the record, per site, user, resource and record.
 *
 * It is bounded: so many entries, so many bytes, so many days. The oldest go first. A storage that fails or is full
 * never breaks the form: the entry is then not kept, and the caller is told.
 */

import { isObject } from "./json-schema";

export interface Unsaved {
  /** When it was written, in milliseconds since 1970. */
  at: number;
  /** The version of the record that it began from; null: a new record. */
  base: string | null;
  /** The values that differ, by path. */
  values: Record<string, unknown>;
}

export interface Place {
  site: string;
  user: number;
  resource: string;
  /** Empty for a new record. */
  id: string;
}

export interface Limits {
  entries: number;
  /** Characters of all entries together. */
  size: number;
  /** Milliseconds. */
  age: number;
}

export const LIMITS: Limits = { entries: 50, size: 3_000_000, age: 30 * 86_400_000 };

const PREFIX = "cms-unsaved:";
const DECLINED = "cms-declined";

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

export class UnsavedWork {
  constructor(
    private readonly store: Store,
    private readonly limits: Limits = LIMITS,
    private readonly now: () => number = Date.now,
  ) {}

  read(place: Place): Unsaved | null {
    const entry = this.parse(keyOf(place));
    return entry !== null && this.now() - entry.at <= this.limits.age ? entry : null;
  }

  /** False where it could not be kept. */
  write(place: Place, base: string | null, values: Record<string, unknown>): boolean {
    const key = keyOf(place);
    const text = JSON.stringify({ at: this.now(), base, values } satisfies Unsaved);
    if (key.length + text.length > this.limits.size) {
      return false;
    }
    this.tidy(key, key.length + text.length);
    for (let tries = 0; tries <= this.limits.entries; tries += 1) {
      try {
        this.store.setItem(key, text);
        return true;
      } catch {
        if (!this.dropOldest(key)) {
          return false;
        }
      }
    }
    return false;
  }

  remove(place: Place): void {
    try {
      this.store.removeItem(keyOf(place));
    } catch {
      // A storage that is closed to us holds nothing of ours.
    }
  }

  /** An autosave of the server was declined: it is not offered again. Of so many declined ones the oldest is forgotten. */
  decline(place: Place, at: number): void {
    const { [keyOf(place)]: _, ...others } = this.declined();
    const kept = Object.entries(others).slice(1 - this.limits.entries);
    try {
      this.store.setItem(DECLINED, JSON.stringify(Object.fromEntries([...kept, [keyOf(place), at]])));
    } catch {
      // It is offered once more.
    }
  }

  /** When the declined autosave was made, in milliseconds since 1970; 0: none was declined. */
  declinedAt(place: Place): number {
    return this.declined()[keyOf(place)] ?? 0;
  }

  private declined(): Record<string, number> {
    try {
      const kept: unknown = JSON.parse(this.store.getItem(DECLINED) ?? "{}");
      return isObject(kept) ? Object.fromEntries(Object.entries(kept).filter((entry): entry is [string, number] => typeof entry[1] === "number")) : {};
    } catch {
      return {};
    }
  }

  /** Takes away what is too old, and the oldest of what is too much, so that an entry of a size has room. */
  tidy(keep = "", room = 0): void {
    const others = this.entries().filter((entry) => entry.key !== keep);
    let count = others.length + (room > 0 ? 1 : 0);
    let size = others.reduce((sum, entry) => sum + entry.size, room);
    for (const entry of others) {
      const old = this.now() - entry.at > this.limits.age;
      if (old || count > this.limits.entries || size > this.limits.size) {
        this.store.removeItem(entry.key);
        count -= 1;
        size -= entry.size;
      }
    }
  }

  private dropOldest(keep: string): boolean {
    const oldest = this.entries().find((entry) => entry.key !== keep);
    if (oldest === undefined) {
      return false;
    }
    this.store.removeItem(oldest.key);
    return true;
  }

  /** Ours, the oldest first. */
  private entries(): { key: string; at: number; size: number }[] {
    const found: { key: string; at: number; size: number }[] = [];
    try {
      for (let index = 0; index < this.store.length; index += 1) {
        const key = this.store.key(index);
        if (key?.startsWith(PREFIX)) {
          const size = key.length + (this.store.getItem(key)?.length ?? 0);
          found.push({ key, at: this.parse(key)?.at ?? 0, size });
        }
      }
    } catch {
      return [];
    }
    return found.sort((a, b) => a.at - b.at);
  }

  private parse(key: string): Unsaved | null {
    try {
      const entry: unknown = JSON.parse(this.store.getItem(key) ?? "null");
      if (isObject(entry) && typeof entry["at"] === "number" && isObject(entry["values"])) {
        return { at: entry["at"], base: typeof entry["base"] === "string" ? entry["base"] : null, values: entry["values"] };
      }
    } catch {
      // A broken entry is none.
    }
    return null;
  }
}

function keyOf(place: Place): string {
  return PREFIX + [place.site, String(place.user), place.resource, place.id].map(encodeURIComponent).join("/");
}
