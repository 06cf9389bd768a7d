/**
 * One record while somebody edits it: saving, conflicts, unsaved work. It knows nothing of what is shown, so that it is
 * tested without a page.
 */

import { batch, signal, type Signal } from "@preact/signals";
import type { Api } from "../../api";
import type { Item, One } from "../../api/adapter";
import type { Resource, State } from "../../api/description";
import { Failure, NetworkFailure } from "../../api/failure";
import { messageOf } from "../../api/http";
import { faultText } from "../../controls/faults";
import { conflictsOf, merged, type Choice, type Conflict } from "../../model/conflicts";
import { isFuture, nowText } from "../../model/dates";
import type { Field } from "../../model/fields";
import { FormStore } from "../../model/form-store";
import { place, shownAt } from "../../model/messages";
import { allowed, limited, permissionsOf, PUBLISH, unlimited, type Permissions } from "../../model/permissions";
import { DATE, PASSWORD, STATE } from "../../model/roles";
import { find, named, statesOf, stepsOf, type Step, type Steps } from "../../model/states";
import { equal, readRecord } from "../../model/values";
import { idText, type Loaded } from "./load";

type Values = Record<string, unknown>;

/** What the caller may do with records of their own, by resource: as the server said it of the last one. */
const learnt = new WeakMap<Api, Map<string, Set<string>>>();

function learntBy(api: Api): Map<string, Set<string>> {
  const known = learnt.get(api) ?? new Map<string, Set<string>>();
  learnt.set(api, known);
  return known;
}

export type Progress = "idle" | "saving" | "saved" | "failed" | "offline";

export interface Clash {
  theirs: One;
  conflicts: Conflict[];
  /** What was being done when the conflict appeared. */
  step: Step;
}

export type Outcome = "saved" | "created" | "refused" | "conflict" | "unchanged";

export class Session {
  readonly store: FormStore;
  readonly record: Signal<Item>;
  readonly id: Signal<string | null>;
  readonly permissions: Signal<Permissions>;
  readonly fields: Signal<Field[]>;
  readonly progress: Signal<Progress> = signal("idle");
  readonly clash: Signal<Clash | null> = signal(null);
  /** When it was saved, in milliseconds since 1970. */
  readonly savedAt: Signal<number | null> = signal(null);
  /** What the server shows once, when a record is created: a password. */
  readonly once: Signal<string | null> = signal(null);
  private etag: string | null;
  private readonly all: Field[];
  private running: Promise<Outcome> | null = null;

  constructor(
    readonly api: Api,
    readonly loaded: Loaded,
  ) {
    const item = loaded.one?.item ?? {};
    this.all = loaded.fields;
    this.etag = loaded.one?.etag ?? null;
    this.record = signal(item);
    this.id = signal(loaded.one === null || loaded.resource.key === null ? null : idText(loaded.resource, item));
    this.permissions = signal(loaded.one === null ? this.expected() : permissionsOf(loaded.links, item));
    this.learn();
    this.fields = signal(this.writable());
    this.store = new FormStore(this.fields.value, loaded.one === null ? defaults(this.all) : readRecord(this.all, item));
  }

  /** A new record has no relations yet: what was learnt from others counts, else everything is offered. */
  private expected(): Permissions {
    const actions = learntBy(this.api).get(this.resource.name);
    return actions === undefined ? unlimited(this.loaded.links) : limited(this.loaded.links, actions);
  }

  private learn(): void {
    if (this.id.peek() !== null && this.record.peek()["author"] === this.api.http.boot.user) {
      learntBy(this.api).set(this.resource.name, this.permissions.peek().actions);
    }
  }

  get resource(): Resource {
    return this.loaded.resource;
  }

  get isNew(): boolean {
    return this.id.value === null && this.resource.key !== null;
  }

  /** The version that the form began from, as an entity tag. */
  get version(): string | null {
    return this.etag;
  }

  /** The fields as the caller has them now. What is in the trash is restored before it is changed. */
  private writable(): Field[] {
    const fields = allowed(this.all, this.permissions.peek());
    return this.currentState()?.trash === true ? fields.map((field) => ({ ...field, readOnly: true })) : fields;
  }

  states(): State[] {
    const field = this.all.find((one) => one.path === STATE);
    return field === undefined ? [] : named(statesOf(this.resource, this.api.description.states), field);
  }

  mayWrite(): boolean {
    return this.fields.value.some((field) => !field.readOnly);
  }

  mayDelete(): boolean {
    const operation = this.resource.operations["delete"];
    const allow = this.loaded.one?.allow ?? [];
    return operation !== undefined && !this.isNew && (allow.length === 0 || allow.includes(operation.method));
  }

  mayPublish(): boolean {
    const declared = this.loaded.links.some((link) => link.rel.endsWith(`action-${PUBLISH}`));
    // A record that is not there yet has no links that tell.
    if (this.isNew && declared && this.resource.publishes === false) {
      return false;
    }
    return !declared || this.permissions.value.actions.has(PUBLISH);
  }

  /** Reads signals: whoever asks while rendering follows them. */
  steps(): Steps {
    const chosen = this.store.cell(STATE).value;
    const saved = this.record.value[STATE];
    const zone = this.api.description.site.timezone;
    return stepsOf(this.states(), {
      isNew: this.isNew,
      saved: typeof saved === "string" ? saved : null,
      chosen: typeof chosen === "string" && chosen !== "" ? chosen : null,
      future: isFuture(this.store.cell(DATE).value, zone),
      mayPublish: this.mayPublish(),
    });
  }

  /** What Ctrl+S does: it never publishes. */
  quietStep(): Step {
    const { primary, secondary } = this.steps();
    return secondary ?? primary;
  }

  /** One after the other: a second press waits for the first. */
  async save(step: Step): Promise<Outcome> {
    while (this.running !== null) {
      await this.running;
    }
    this.running = this.attempt(step).finally(() => (this.running = null));
    return this.running;
  }

  /** A button that failed leaves the form as it was before. */
  private async attempt(step: Step): Promise<Outcome> {
    const before = { state: this.store.cell(STATE).peek(), date: this.store.cell(DATE).peek() };
    this.prepare(step);
    const outcome = await this.send(step);
    if (outcome === "refused" || outcome === "conflict") {
      const { errors, summary } = this.store;
      const messages = { errors: errors.peek(), summary: summary.peek() };
      if (step.state !== null) {
        this.store.set(STATE, before.state);
      }
      if (step.now) {
        this.store.set(DATE, before.date);
      }
      errors.value = messages.errors;
      summary.value = messages.summary;
    }
    return outcome;
  }

  /** `again`: it is repeated, because the version was another one. */
  private async send(step: Step, again = false): Promise<Outcome> {
    const wrong = this.wrong();
    if (Object.keys(wrong).length > 0) {
      this.refuse(wrong, []);
      return "refused";
    }
    const body = this.store.changes();
    const sent = this.store.values();
    if (Object.keys(body).length === 0 && !this.isNew) {
      this.refuse({}, []);
      this.progress.value = "idle";
      return "unchanged";
    }
    this.progress.value = "saving";
    try {
      const created = this.isNew;
      const one = created
        ? await this.api.adapter.create(this.resource, body, { params: this.loaded.params })
        : await this.api.adapter.update(this.resource, this.id.value, body, { params: this.loaded.params, ifMatch: this.etag });
      const shown = created ? one.item[PASSWORD] : undefined;
      if (typeof shown === "string" && shown !== "" && this.all.some((field) => field.path === PASSWORD && field.readOnly)) {
        this.once.value = shown;
      }
      await this.take(one, sent);
      return created ? "created" : "saved";
    } catch (error) {
      return this.failed(error, step, again);
    }
  }

  private wrong(): Record<string, string> {
    this.store.flush(true);
    return this.store.check(faultText, this.isNew);
  }

  /** Whether nothing is known that the server would refuse. */
  isValid(): boolean {
    return Object.keys(this.wrong()).length === 0;
  }

  /** The state and the date that a button stands for. */
  private prepare(step: Step): void {
    if (step.state !== null) {
      this.store.set(STATE, step.state);
    }
    if (step.now) {
      this.store.set(DATE, nowText(this.api.description.site.timezone));
    }
  }

  /** The server has the record as the form shows it. */
  async take(one: One, sent: Values | null): Promise<void> {
    const whole = hasLinks(one.item) || this.resource.key === null ? one : await this.read(one);
    this.etag = whole.etag ?? one.etag;
    batch(() => {
      this.record.value = whole.item;
      if (this.resource.key !== null) {
        this.id.value = idText(this.resource, whole.item);
      }
      this.permissions.value = permissionsOf(this.loaded.links, whole.item);
      this.learn();
      this.fields.value = this.writable();
      this.store.fields = this.fields.value;
      this.store.rebase(readRecord(this.all, whole.item), sent === null ? null : forgetSecrets(this.all, this.store, sent));
      this.store.errors.value = {};
      this.store.summary.value = [];
      this.clash.value = null;
      this.progress.value = "saved";
      this.savedAt.value = Date.now();
    });
  }

  private async read(one: One): Promise<One> {
    try {
      return await this.api.adapter.one(this.resource, idText(this.resource, one.item), { params: this.loaded.params });
    } catch {
      // It is saved; what it may do is as before.
      return { ...one, item: { ...one.item, _links: this.record.peek()["_links"] } };
    }
  }

  private async failed(error: unknown, step: Step, again: boolean): Promise<Outcome> {
    if (error instanceof Failure && error.conflict) {
      return this.collide(step, again);
    }
    if (error instanceof NetworkFailure) {
      this.progress.value = "offline";
      this.store.summary.value = [];
      return "refused";
    }
    this.progress.value = "failed";
    if (!(error instanceof Failure)) {
      this.refuse({}, [messageOf(error)]);
      return "refused";
    }
    const placed = place(error, this.fields.peek());
    this.refuse(shownAt(placed, this.fields.peek()), placed.rest);
    if (error.status === 403 && step.state !== null && (step.kind === "publish" || step.kind === "schedule" || step.kind === "publishNow")) {
      this.cannotPublish();
    }
    return "refused";
  }

  /** A new record does not say what the caller may do: the server did now. */
  private cannotPublish(): void {
    const actions = new Set([...this.permissions.peek().actions].filter((action) => action !== PUBLISH));
    learntBy(this.api).set(this.resource.name, actions);
    this.permissions.value = limited(this.loaded.links, actions);
  }

  private refuse(fields: Record<string, string>, rest: string[]): void {
    batch(() => {
      this.store.errors.value = fields;
      this.store.summary.value = rest;
      if (Object.keys(fields).length + rest.length > 0) {
        this.progress.value = "failed";
      }
    });
  }

  /** Somebody else has saved in the meantime. */
  private async collide(step: Step, again: boolean): Promise<Outcome> {
    try {
      const theirs = await this.api.adapter.one(this.resource, this.id.value, { params: this.loaded.params });
      const values = readRecord(this.all, theirs.item);
      const conflicts = conflictsOf(this.fields.peek(), this.store.base(), this.store.values(), values);
      if (!again && conflicts.length > 0 && conflicts.every((one) => equal(one.theirs, one.base))) {
        // What somebody saved is in no field, such as a password that they set, or the same as here, such as a change whose
        // answer was lost: there is nothing to choose.
        this.etag = theirs.etag;
        this.store.rebase(values);
        return await this.send(step, true);
      }
      batch(() => {
        this.clash.value = { theirs, conflicts, step };
        this.progress.value = "failed";
      });
      if (conflicts.length === 0) {
        // Both did the same.
        await this.take(theirs, this.store.values());
        return "saved";
      }
      return "conflict";
    } catch (error) {
      this.progress.value = error instanceof NetworkFailure ? "offline" : "failed";
      this.refuse({}, [messageOf(error)]);
      return "refused";
    }
  }

  /** Puts the two versions together and saves on top of theirs. */
  async settle(choices: Record<string, Choice>): Promise<Outcome> {
    const clash = this.clash.peek();
    if (clash === null) {
      return "unchanged";
    }
    const theirs = readRecord(this.all, clash.theirs.item);
    const mine = this.store.values();
    const values = merged(this.fields.peek(), mine, theirs, choices);
    // The button's own state is part of mine.
    const { state } = clash.step;
    const step: Step = { ...clash.step, state: choices[STATE] === "theirs" ? null : state, now: choices[DATE] === "theirs" ? false : clash.step.now };
    batch(() => {
      this.etag = clash.theirs.etag;
      this.record.value = clash.theirs.item;
      this.store.rebase(theirs);
      this.store.take(values);
      this.clash.value = null;
      this.progress.value = "idle";
    });
    return this.save(step);
  }

  /** The record was changed by something that is no form, such as an autosave: only its version is new. */
  async refreshVersion(): Promise<void> {
    const one = await this.api.adapter.one(this.resource, this.id.value, { params: this.loaded.params });
    this.etag = one.etag;
    batch(() => {
      this.record.value = one.item;
      this.store.rebase(readRecord(this.all, one.item));
    });
  }

  /** An autosave gives the record a new version. A save goes on from that one, unless somebody has saved in the meantime. */
  async followVersion(): Promise<void> {
    try {
      const one = await this.api.adapter.one(this.resource, this.id.value, { params: this.loaded.params });
      if (equal(readRecord(this.all, one.item), this.store.base())) {
        this.etag = one.etag;
      }
    } catch {
      // The save says it, if it fails as well.
    }
  }

  currentState(): State | null {
    const state = this.record.value[STATE];
    return find(this.states(), typeof state === "string" ? state : null);
  }
}

/** What the schema says a record begins with. It is sent only where somebody changes it. */
function defaults(fields: Field[]): Values {
  return Object.fromEntries(fields.filter((field) => field.default !== undefined && !field.readOnly).map((field) => [field.path, structuredClone(field.default)]));
}

function hasLinks(item: Item): boolean {
  return item["_links"] !== undefined;
}

/** A password that was sent is not kept: the record never shows it. */
function forgetSecrets(fields: Field[], store: FormStore, sent: Values): Values {
  for (const field of fields) {
    if (field.secret && store.cell(field.path).peek() === sent[field.path]) {
      store.cell(field.path).value = undefined;
    }
  }
  return sent;
}
