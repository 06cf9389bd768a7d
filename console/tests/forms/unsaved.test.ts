import { expect, it } from "vitest";
import { UnsavedWork, type Place } from "../../src/model/unsaved";

class Memory {
  readonly kept = new Map<string, string>();
  /** Characters that fit. */
  room = Infinity;
  get length(): number {
    return this.kept.size;
  }
  key(index: number): string | null {
    return [...this.kept.keys()][index] ?? null;
  }
  getItem(key: string): string | null {
    return this.kept.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    const used = [...this.kept].reduce((sum, [name, text]) => sum + (name === key ? 0 : name.length + text.length), key.length + value.length);
    if (used > this.room) {
      throw new DOMException("full", "QuotaExceededError");
    }
    this.kept.set(key, value);
  }
  removeItem(key: string): void {
    this.kept.delete(key);
  }
}

const place = (id: string): Place => ({ site: "https://site.example", user: 1, resource: "notes", id });
const limits = { entries: 3, size: 10_000, age: 1000 };

it("comes back as it was written, for the same person and record alone", () => {
  const work = new UnsavedWork(new Memory(), limits, () => 5);
  expect(work.write(place("7"), '"3-ab"', { title: "Ünsaved" })).toBe(true);
  expect(work.read(place("7"))).toEqual({ at: 5, base: '"3-ab"', values: { title: "Ünsaved" } });
  expect(work.read(place("8"))).toBeNull();
  expect(work.read({ ...place("7"), user: 2 })).toBeNull();
  expect(work.read({ ...place("7"), site: "https://site.example/7" })).toBeNull();
  work.remove(place("7"));
  expect(work.read(place("7"))).toBeNull();
});

it("keeps so many entries; the oldest goes first", () => {
  const store = new Memory();
  store.kept.set("somebody-else", "stays");
  let now = 0;
  const work = new UnsavedWork(store, limits, () => (now += 1));
  for (const id of ["1", "2", "3", "4"]) {
    work.write(place(id), null, { id });
  }
  expect(["1", "2", "3", "4"].map((id) => work.read(place(id)) !== null)).toEqual([false, true, true, true]);
  expect(store.getItem("somebody-else")).toBe("stays");
});

it("keeps so many characters; what is larger than all of them is refused", () => {
  const work = new UnsavedWork(new Memory(), { ...limits, size: 500 }, () => 0);
  expect(work.write(place("1"), null, { text: "x".repeat(300) })).toBe(true);
  expect(work.write(place("2"), null, { text: "y".repeat(300) })).toBe(true);
  expect(work.read(place("1"))).toBeNull();
  expect(work.write(place("3"), null, { text: "z".repeat(600) })).toBe(false);
  expect(work.read(place("2"))).not.toBeNull();
});

it("forgets after so long", () => {
  const store = new Memory();
  let now = 0;
  const work = new UnsavedWork(store, limits, () => now);
  work.write(place("1"), null, { a: 1 });
  now = 1001;
  expect(work.read(place("1"))).toBeNull();
  work.tidy();
  expect(store.length).toBe(0);
});

it("a full storage gives up older entries, then says so", () => {
  const store = new Memory();
  let now = 0;
  const work = new UnsavedWork(store, limits, () => (now += 1));
  work.write(place("1"), null, { text: "x".repeat(200) });
  store.room = 350;
  expect(work.write(place("2"), null, { text: "y".repeat(200) })).toBe(true);
  expect(work.read(place("1"))).toBeNull();
  store.room = 10;
  expect(work.write(place("3"), null, { text: "z" })).toBe(false);
});

it("remembers what was declined, of so many records", () => {
  const work = new UnsavedWork(new Memory(), limits, () => 0);
  ["1", "2", "3", "4"].forEach((id, at) => work.decline(place(id), at + 10));
  work.decline(place("2"), 99);
  expect(["1", "2", "3", "4"].map((id) => work.declinedAt(place(id)))).toEqual([0, 99, 12, 13]);
});

it("a broken entry, and a storage that is closed, are none", () => {
  const store = new Memory();
  const work = new UnsavedWork(store, limits, () => 0);
  work.write(place("1"), null, {});
  for (const key of store.kept.keys()) {
    store.kept.set(key, "{");
  }
  expect(work.read(place("1"))).toBeNull();
  const closed = new Proxy(store, { get: (target, name) => (name === "kept" ? target.kept : () => { throw new DOMException("no", "SecurityError"); }) });
  const other = new UnsavedWork(closed, limits, () => 0);
  expect(other.read(place("1"))).toBeNull();
  expect(other.write(place("1"), null, {})).toBe(false);
});
