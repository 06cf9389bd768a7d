/**
 * Who else has records open. A window says what it has open and asks who else does, in one request every 30 seconds and
 * whenever another screen is shown. Meanwhile it listens: who comes and goes is shown at once, and a list asks again when
 * somebody changes its records. A window that nobody looks at says nothing and does not listen.
 */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "../api";
import { touched } from "../api/changes";
import type { Resource } from "../api/description";
import { isObject } from "../api/failure";

export interface Other {
  item: string;
  user: number;
  name: string;
  /** In UTC. */
  since: string;
}

export interface Presence {
  others: Other[];
  /** The user who has taken the open record over; null: nobody. */
  takenBy: number | null;
}

interface Watched {
  resource: string;
  /** The record that is open; empty: none. */
  item: string;
  /** Records of a list. */
  items: string[];
}

const PATH = "/console/v1/presence";
const PAUSE = 30_000;
/** Changes of so long are shown together. */
const GATHER = 1000;
const MOST_ITEMS = 100;
const NOBODY: Presence = { others: [], takenBy: null };

/** Distinguishes this window from others of the same user. */
const tab = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export const presence = signal<Presence>(NOBODY);
let watched: Watched | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let refresh: ReturnType<typeof setTimeout> | undefined;
let stream: EventSource | null = null;

/** Whether people see each other at a resource's records: they have an address of their own, and the caller may change some. */
function isShared(resource: Resource): boolean {
  return resource.operations["update"] !== undefined && resource.key !== null && resource.parent === null;
}

/** Watches the open record, or the records of a list, as long as the screen is shown. */
export function usePresence(resource: Resource, item: string | null, items: readonly string[] = []): void {
  const shared = isShared(resource) && (item !== null || items.length > 0);
  const listed = items.slice(0, MOST_ITEMS);
  useEffect(() => {
    if (!shared) return undefined;
    const own: Watched = { resource: resource.name, item: item ?? "", items: listed };
    watched = own;
    // The screen has what it asks for first.
    timer = setTimeout(() => void ask(), item === null ? 1000 : 0);
    const leave = (): void => {
      if (own.item !== "") send({ ...own, item: "", items: [] }, {}, true).catch(() => undefined);
    };
    const seen = (): void => {
      if (document.hidden) hangUp();
      else void ask();
    };
    window.addEventListener("pagehide", leave);
    document.addEventListener("visibilitychange", seen);
    return () => {
      window.removeEventListener("pagehide", leave);
      document.removeEventListener("visibilitychange", seen);
      clearTimeout(timer);
      hangUp();
      watched = null;
      presence.value = NOBODY;
      // Another screen that shows records of this window says the same by itself.
      setTimeout(() => watched === null && leave(), 0);
    };
  }, [resource, item, listed.join(","), shared]);
}

/** Takes the open record over from others. */
export async function takeOver(): Promise<void> {
  if (watched !== null) presence.value = await send(watched, { take: true });
}

async function ask(): Promise<void> {
  clearTimeout(timer);
  const own = watched;
  if (own === null) return;
  try {
    const answer = document.hidden || api().http.ended.value ? null : await send(own);
    if (answer !== null && watched === own) {
      presence.value = answer;
      listen(own);
    }
  } catch {
    // Nobody has to know who else is there: the next request asks again.
  }
  if (watched === own) timer = setTimeout(() => void ask(), PAUSE);
}

/** Hears of the others, and of changes of the resource, as they come. A stream that is refused is opened again by the next request. */
function listen(own: Watched): void {
  if (stream !== null && stream.readyState !== EventSource.CLOSED) return;
  const { resource, item, items } = own;
  stream = api().http.events(`${PATH}/events`, { resources: [resource], tab, resource, item, items });
  stream.addEventListener("presence", (event) => (presence.value = presenceOf(JSON.parse(event.data))));
  const changed = (): void => {
    // A form keeps what somebody writes.
    if (item === "") refresh ??= setTimeout(() => ((refresh = undefined), touched(resource)), GATHER);
  };
  stream.addEventListener("message", changed);
  stream.addEventListener("reset", changed);
}

function hangUp(): void {
  stream?.close();
  stream = null;
  clearTimeout(refresh);
  refresh = undefined;
}

async function send({ resource, item, items }: Watched, more: object = {}, keepalive = false): Promise<Presence> {
  const { data } = await api().http.request(PATH, { method: "POST", body: { tab, resource, item, items, ...more }, keepalive });
  return presenceOf(data);
}

function presenceOf(data: unknown): Presence {
  if (!isObject(data)) return NOBODY;
  const takenBy = data["taken_by"];
  return { others: Array.isArray(data["others"]) ? (data["others"] as Other[]) : [], takenBy: typeof takenBy === "number" ? takenBy : null };
}
