/**
 * Keeps what is typed: in the browser's storage while somebody types, and on the server where there are autosaves.
 * What was kept is offered when the record is opened again.
 */

import { signal, type Signal } from "@preact/signals";
import { Failure } from "../../api/failure";
import { faultText } from "../../controls/faults";
import { isObject } from "../../model/json-schema";
import { autosaveOf, autosavesOf, parametersOf } from "../../model/operations";
import { UnsavedWork, type Place } from "../../model/unsaved";
import type { Field } from "../../model/fields";
import { equal, write } from "../../model/values";
import { heldValues, revisionFields } from "../revisions/model";
import type { Session } from "./session";

export interface Offer {
  from: "browser" | "server";
  /** Milliseconds since 1970. */
  at: number;
  values: Record<string, unknown>;
  /** The record was saved by somebody since. */
  outdated: boolean;
}

/** How long somebody stops typing before it is kept. */
const PAUSE = 500;
/** Between two autosaves on the server. */
const INTERVAL = 60_000;
/** How long somebody stops typing before an autosave, while a preview is beside the form. */
const LIVE_PAUSE = 1_000;
/** The server has nothing to keep: the record is as it is sent, and an earlier autosave is gone. */
const NO_CHANGES = "rest_autosave_no_changes";

export class Keeper {
  readonly offer: Signal<Offer | null> = signal(null);
  /** What differs is in the browser's storage. */
  readonly kept: Signal<boolean> = signal(false);
  /** The storage took nothing. */
  readonly refused: Signal<boolean> = signal(false);
  /** Grows whenever the server has the record in a newer form, saved or as an autosave. */
  readonly stored: Signal<number> = signal(0);
  private timer: ReturnType<typeof setTimeout> | null = null;
  private soon: ReturnType<typeof setTimeout> | null = null;
  private live = false;
  /** The last autosave since the record was saved. */
  private sent: Record<string, unknown> | null = null;
  /** When the form was opened, the server had an autosave that is newer than the record. */
  private ahead = false;
  /** The look for that autosave. */
  private looked: Promise<void> = Promise.resolve();
  /** Autosaves come one after the other. */
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly session: Session,
    private readonly work: UnsavedWork,
    private readonly site: string,
    private readonly user: number,
  ) {}

  /** Looks for what was kept, and begins to keep; returns what ends it. */
  start(): () => void {
    this.look();
    const stopChanges = this.session.store.onChange(() => this.schedule());
    const flush = (): void => this.flush();
    const hidden = (): void => {
      if (document.visibilityState === "hidden") {
        this.flush();
      }
    };
    addEventListener("pagehide", flush);
    document.addEventListener("visibilitychange", hidden);
    const interval = setInterval(() => void this.autosave(), INTERVAL);
    return () => {
      this.flush();
      stopChanges();
      removeEventListener("pagehide", flush);
      document.removeEventListener("visibilitychange", hidden);
      clearInterval(interval);
    };
  }

  private place(): Place {
    return { site: this.site, user: this.user, resource: this.session.resource.name, id: this.session.id.peek() ?? "" };
  }

  private look(): void {
    const entry = this.work.read(this.place());
    const values = entry === null ? {} : this.differing(entry.values);
    if (entry !== null && Object.keys(values).length > 0) {
      this.offer.value = { from: "browser", at: entry.at, values, outdated: entry.base !== null && entry.base !== this.session.version };
    } else {
      this.work.remove(this.place());
    }
    this.looked = this.lookOnServer();
  }

  /** The caller's own autosave, where it is newer than the record. */
  private async lookOnServer(): Promise<void> {
    const { resource, id, api, record } = this.session;
    const name = autosavesOf(resource);
    const own = id.peek();
    if (name === null || own === null || !this.session.mayWrite()) {
      return;
    }
    try {
      const { data } = await api.adapter.call<unknown>(resource, name, { id: own, params: parametersOf(resource, name, own), query: { context: "edit" } });
      const found = (Array.isArray(data) ? data : []).filter(isObject).find((one) => one["author"] === api.http.boot.user);
      const time = String(found?.["modified_gmt"] ?? "");
      if (found === undefined || time <= String(record.peek()["modified_gmt"] ?? "")) {
        return;
      }
      this.ahead = true;
      if (this.offer.peek() !== null) {
        return;
      }
      const values = this.offered(this.differing(heldValues(found, this.autosaved())));
      const at = Date.parse(`${time}Z`);
      if (Object.keys(values).length > 0 && at > this.work.declinedAt(this.place())) {
        this.offer.value = { from: "server", at, values, outdated: false };
      }
    } catch {
      // Without the look there is no offer; the record is as it is.
    }
  }

  /** The fields that an autosave holds. */
  private autosaved(): Field[] {
    return revisionFields(this.session.fields.peek()).filter((field) => this.session.loaded.autosaved.includes(field.path));
  }

  /** No work is lost with an empty text: a server may have stored one for what an autosave did not name. */
  private offered(values: Record<string, unknown>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(values).filter(([path, value]) => value !== "" || !this.autosaved().some((field) => field.wrapped && field.path === path)));
  }

  private differing(values: Record<string, unknown>): Record<string, unknown> {
    const { store, fields } = this.session;
    const writable = fields.peek().filter((field) => !field.readOnly && Object.hasOwn(values, field.path));
    return Object.fromEntries(writable.filter((field) => !equal(values[field.path], store.base()[field.path])).map((field) => [field.path, values[field.path]]));
  }

  restore(): void {
    const offer = this.offer.peek();
    if (offer !== null) {
      this.offer.value = null;
      this.session.store.take(offer.values);
    }
  }

  discard(): void {
    const offer = this.offer.peek();
    if (offer?.from === "server") {
      this.work.decline(this.place(), offer.at);
    }
    this.offer.value = null;
    this.work.remove(this.place());
  }

  private schedule(): void {
    if (this.timer !== null) {
      clearTimeout(this.timer);
    }
    this.timer = setTimeout(() => this.flush(), PAUSE);
    this.scheduleLive();
  }

  private scheduleLive(): void {
    if (this.soon !== null) {
      clearTimeout(this.soon);
    }
    this.soon = this.live ? setTimeout(() => void this.autosave(), LIVE_PAUSE) : null;
  }

  /** While a preview is beside the form, autosaves follow what is typed. */
  follow(live: boolean): void {
    this.live = live;
    this.scheduleLive();
  }

  /** Writes what differs now. An offer that nobody has answered is not overwritten by nothing. */
  flush(): void {
    if (this.timer !== null) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    const values = this.withoutPasswords(this.session.store.differing());
    if (Object.keys(values).length > 0) {
      const done = this.work.write(this.place(), this.session.version, values);
      this.kept.value = done;
      this.refused.value = !done;
    } else if (this.offer.peek() === null) {
      this.work.remove(this.place());
      this.kept.value = false;
      this.refused.value = false;
    }
  }

  /** The record is saved: nothing is left to keep. `was` is the place of a new record. */
  saved(wasNew: boolean): void {
    this.offer.value = null;
    this.sent = null;
    this.ahead = false;
    if (wasNew) {
      this.work.remove({ ...this.place(), id: "" });
    }
    this.flush();
    this.stored.value += 1;
  }

  /** Passwords stay out of storages. */
  private withoutPasswords(values: Record<string, unknown>): Record<string, unknown> {
    const hidden = new Set(this.session.fields.peek().filter((field) => field.secret || field.control === "password").map((field) => field.path));
    return Object.fromEntries(Object.entries(values).filter(([path]) => !hidden.has(path)));
  }

  /** Waits for the autosave that is on its way: what is saved then is saved on top of it. */
  async settled(): Promise<void> {
    await this.running;
    if (this.sent !== null) {
      await this.session.followVersion();
    }
  }

  /** A preview shows the newest of record and autosave: what is only in the form is stored first. A failure is thrown. */
  async catchUp(): Promise<void> {
    await this.looked;
    // What somebody may still take over is overwritten by what they type alone.
    const outdated = this.ahead && this.offer.peek() === null;
    await this.inTurn({ always: outdated, throws: true });
  }

  /** Whether an autosave would hold something else than the record; after an earlier one, it may be to take that back. */
  private isDue(fields: Field[]): boolean {
    const differing = this.session.store.differing();
    return this.sent !== null || fields.some((field) => Object.hasOwn(differing, field.path));
  }

  /**
   * Stores the whole document on the server, where something differs since the last time. What somebody still types, such
   * as half a number, is left out. Returns its response. With `force` it is stored anyway, and a failure is thrown.
   */
  autosave(force = false): Promise<Record<string, unknown> | null> {
    return this.inTurn({ always: force, throws: force });
  }

  private inTurn(how: { always: boolean; throws: boolean }): Promise<Record<string, unknown> | null> {
    const done = this.running.then(() => this.store(how));
    this.running = done.catch(() => null);
    return done;
  }

  private async store({ always, throws }: { always: boolean; throws: boolean }): Promise<Record<string, unknown> | null> {
    const { session } = this;
    const name = autosaveOf(session.resource);
    const id = session.id.peek();
    if (name === null || id === null || session.progress.peek() === "saving" || session.clash.peek() !== null) {
      return null;
    }
    const wrong = Object.keys(session.store.check(faultText, false)).map((at) => at.split(".")[0]);
    const values = session.store.values();
    const fields = this.autosaved().filter((field) => values[field.path] !== undefined && !wrong.includes(field.path));
    const body = Object.fromEntries(fields.map((field) => [field.path, write(field, values[field.path])]));
    if (!always && (!this.isDue(fields) || equal(body, this.sent))) {
      return null;
    }
    // The autosave of a draft may be the record itself, which somebody else may have saved.
    const headers: Record<string, string> = session.version === null ? {} : { "If-Match": session.version };
    try {
      const { data } = await session.api.adapter.call<unknown>(session.resource, name, { id, params: parametersOf(session.resource, name, id), body, headers });
      const made = isObject(data) ? data : {};
      // The autosave of a draft by its author is the record itself, which is saved with that.
      if (fields.length > 0 && String(made["id"]) === id) {
        await session.refreshVersion();
        session.savedAt.value = Date.now();
      }
      this.keptAs(body);
      return made;
    } catch (error) {
      if (error instanceof Failure && error.code === NO_CHANGES) {
        this.keptAs(body);
      } else if (throws) {
        throw error;
      }
      return null;
    }
  }

  private keptAs(body: Record<string, unknown>): void {
    this.sent = body;
    this.ahead = false;
    this.stored.value += 1;
  }
}
