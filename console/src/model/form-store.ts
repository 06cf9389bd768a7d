/**
 * The state of one form. Each field has a signal of its own, so that a key shows in its row and nowhere else.
 */

import { signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { faultsOf, type Faults } from "./checks";
import type { Field } from "./fields";
import { changes, equal } from "./values";

type Values = Record<string, unknown>;

export class FormStore {
  /** Messages by place in the record. */
  readonly errors: Signal<Record<string, string>> = signal({});
  /** Messages that belong to no field. */
  readonly summary: Signal<string[]> = signal([]);
  /** Whether something differs from the record. */
  readonly dirty: ReadonlySignal<boolean>;
  private readonly differs: Signal<boolean> = signal(false);
  private readonly cells = new Map<string, Signal<unknown>>();
  private readonly changed = new Set<string>();
  private readonly flushers = new Set<(settled: boolean) => void>();
  private readonly broken = new Map<string, string>();
  private readonly listeners = new Set<() => void>();

  constructor(
    public fields: Field[],
    private original: Values,
  ) {
    this.dirty = this.differs;
    for (const [path, value] of Object.entries(original)) {
      this.cells.set(path, signal(value));
    }
  }

  cell(path: string): Signal<unknown> {
    let cell = this.cells.get(path);
    if (cell === undefined) {
      cell = signal(this.original[path]);
      this.cells.set(path, cell);
    }
    return cell;
  }

  set(path: string, value: unknown): void {
    const cell = this.cell(path);
    if (cell.peek() === value) {
      return;
    }
    cell.value = value;
    this.compare(path);
    this.forget(path);
    for (const listener of this.listeners) {
      listener();
    }
  }

  /** Values as they are, with what controls have not told yet. */
  values(): Values {
    this.flush(false);
    return Object.fromEntries([...this.cells].map(([path, cell]) => [path, cell.peek()]).filter(([, value]) => value !== undefined));
  }

  base(): Values {
    return this.original;
  }

  /** The body of a request: what differs, as the server takes it. */
  changes(): Values {
    return changes(this.fields, this.original, this.values());
  }

  /** The values that differ, as the form edits them. */
  differing(): Values {
    const values = this.values();
    return Object.fromEntries(Object.entries(values).filter(([path, value]) => !equal(value, this.original[path])));
  }

  /** A record has been read or saved: what was typed in the meantime stays. */
  rebase(original: Values, sent: Values | null = null): void {
    const before = this.original;
    this.original = original;
    for (const path of new Set([...Object.keys(original), ...this.cells.keys()])) {
      const cell = this.cell(path);
      const untouched = equal(cell.peek(), sent === null ? before[path] : sent[path]);
      if (untouched && !equal(cell.peek(), original[path])) {
        cell.value = original[path];
      }
      this.compare(path);
    }
  }

  /** Takes over values, such as those of a draft, as if they were typed. */
  take(values: Values): void {
    for (const [path, value] of Object.entries(values)) {
      this.set(path, value);
    }
  }

  /** Everything is as in the record again. */
  reset(): void {
    for (const [path, cell] of this.cells) {
      cell.value = this.original[path];
    }
    this.changed.clear();
    this.differs.value = false;
    this.errors.value = {};
    this.summary.value = [];
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * A control that tells its value late is asked before the value is needed. `settled`: it is to be saved, so that half a word
   * counts as one.
   */
  onFlush(flush: (settled: boolean) => void): () => void {
    this.flushers.add(flush);
    return () => this.flushers.delete(flush);
  }

  /** A control tells that its text is no value; null: it is again. */
  setBroken(at: string, message: string | null): void {
    if (message === null) {
      this.broken.delete(at);
      this.forget(at);
    } else {
      this.broken.set(at, message);
    }
  }

  /** What the form itself can say against the values that differ; `text` gives the words. */
  check(text: (fault: Faults[string]) => string, everything: boolean): Record<string, string> {
    const values = this.values();
    const found: Record<string, string> = {};
    for (const field of this.fields) {
      if (everything || !equal(values[field.path], this.original[field.path])) {
        for (const [at, fault] of Object.entries(faultsOf(field, values[field.path]))) {
          found[at] = text(fault);
        }
      }
    }
    return { ...found, ...Object.fromEntries(this.broken) };
  }

  /** Asks the controls for what they have not told yet. */
  flush(settled: boolean): void {
    for (const flush of this.flushers) {
      flush(settled);
    }
  }

  private compare(path: string): void {
    if (equal(this.cell(path).peek(), this.original[path])) {
      this.changed.delete(path);
    } else {
      this.changed.add(path);
    }
    this.differs.value = this.changed.size > 0;
  }

  /** What was said of a field no longer holds once it is changed. */
  private forget(path: string): void {
    const errors = this.errors.peek();
    const rest = Object.entries(errors).filter(([at]) => at !== path && !at.startsWith(`${path}.`));
    if (rest.length < Object.keys(errors).length) {
      this.errors.value = Object.fromEntries(rest);
    }
  }
}
