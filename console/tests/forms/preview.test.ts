import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Failure } from "../../src/api/failure";
import type { Resource } from "../../src/api/description";
import { UnsavedWork } from "../../src/model/unsaved";
import { Keeper } from "../../src/screens/form/keeper";
import { loadForm } from "../../src/screens/form/load";
import { frontPreview, type Preview } from "../../src/screens/form/preview";
import { Session } from "../../src/screens/form/session";
import { sampleDescription, sampleResource } from "./sample";

const ORIGIN = "https://www.example.org";
const title = { type: "object", properties: { raw: { type: "string" }, rendered: { type: "string", readonly: true } } };
const operation = (method: "GET" | "POST", path: string): Resource["operations"][string] => ({ method, path, args: [], file: false, batch: false });
const notes = sampleResource({
  operations: {
    get: operation("GET", "/notes/{id}"), update: operation("POST", "/notes/{id}"),
    autosaves: operation("GET", "/notes/{id}/autosaves"), autosave: operation("POST", "/notes/{id}/autosaves"),
    preview_link: operation("POST", "/notes/{id}/preview-links"),
  },
});

/** What the server is asked to do. */
let asked: string[];
let address: string;
let autosaves: object[];
let refuse: unknown;
/** A window of the front end. */
const front = () => ({ postMessage: vi.fn(), location: { replace: vi.fn() }, close: vi.fn(), opener: window as Window | null });
const MESSAGE = [{ type: "cms-server:changed", id: 7 }, ORIGIN];
const stops: (() => void)[] = [];

async function form(origin: string | null = ORIGIN): Promise<{ session: Session; keeper: Keeper; preview: Preview | null }> {
  const item = { id: 7, title: { raw: "Old", rendered: "Old" }, modified_gmt: "2026-07-15T10:00:00", _links: {} };
  const adapter = {
    one: async () => ({ item, etag: null, allow: [] }),
    update: async (_: unknown, __: unknown, body: object) => (asked.push("update"), { item: { ...item, ...body }, etag: null, allow: [] }),
    call: async (_: unknown, name: string, options: { body: { title?: { raw: string } } }) => {
      if (name === "autosaves") return { data: autosaves };
      asked.push(name === "autosave" ? `autosave ${options.body.title?.raw}` : name);
      if (refuse !== null) throw refuse;
      return { data: name === "autosave" ? { id: 8 } : { address, created: "2026-05-01T08:00:00Z", expires: "2026-05-01T09:00:00Z" } };
    },
  };
  const properties = { id: { type: "integer", readonly: true }, title };
  const api = {
    adapter, description: sampleDescription([notes], { preview_origin: origin }), http: { boot: { user: 1 } },
    schemas: { of: async () => ({ schema: { type: "object", properties, links: [] }, args: { update: properties, autosave: { title } } }) },
  } as never;
  const session = new Session(api, await loadForm(api, notes, "7", {}, "autosave"));
  const keeper = new Keeper(session, new UnsavedWork(localStorage), "https://site.example", 1);
  const preview = frontPreview(session, keeper);
  stops.push(keeper.start(), preview?.start() ?? (() => undefined));
  return { session, keeper, preview };
}

const opens = (shown: object | null) => vi.stubGlobal("open", vi.fn(() => shown));
/** A pane with a page of the front end in it. */
async function pane(preview: Preview | null): Promise<ReturnType<typeof front>> {
  const page = front();
  await preview?.openPane();
  preview?.attach({ contentWindow: page } as never);
  preview?.loaded();
  return page;
}
const says = (data: unknown, origin: string, source: object) => window.dispatchEvent(Object.assign(new Event("message"), { data, origin, source }));
const settle = () => vi.advanceTimersByTimeAsync(5_000);

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  asked = [];
  autosaves = [];
  refuse = null;
  address = `${ORIGIN}/preview?token=t`;
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a preview in a new tab", () => {
  it("stores what is typed, then leads to a link made by the press", async () => {
    const { session, preview } = await form();
    const shown = front();
    opens(shown);
    session.store.set("title", "New");
    const showing = preview?.show();
    // The window is opened at once, and has no hold of this one before anything is loaded in it.
    expect(open).toHaveBeenCalledWith("about:blank", "_blank");
    expect(shown.opener).toBeNull();
    expect(shown.location.replace).not.toHaveBeenCalled();
    await showing;
    expect(asked).toEqual(["autosave New", "preview_link"]);
    expect(shown.location.replace).toHaveBeenCalledWith(address);
  });

  it("stores nothing where the form shows what the server has", async () => {
    const { session, preview } = await form();
    opens(front());
    await preview?.show();
    expect(asked).toEqual(["preview_link"]);
    // Taken back, an autosave would still show the change.
    session.store.set("title", "New");
    await preview?.show();
    await preview?.show();
    session.store.set("title", "Old");
    await preview?.show();
    expect(asked).toEqual(["preview_link", "autosave New", "preview_link", "preview_link", "autosave Old", "preview_link"]);
  });

  it("overwrites no autosave that is still offered, but one that was declined", async () => {
    autosaves = [{ author: 1, modified_gmt: "2026-07-15T11:00:00", title: { raw: "Offered" } }];
    const { keeper, preview } = await form();
    opens(front());
    await preview?.show();
    expect(keeper.offer.value?.from).toBe("server");
    expect(asked).toEqual(["preview_link"]);
    keeper.discard();
    await preview?.show();
    expect(asked.slice(1)).toEqual(["autosave Old", "preview_link"]);
  });

  it("goes nowhere but to the front end", async () => {
    const { preview } = await form();
    for (const wrong of ["https://other.example/preview", "javascript:alert(1)", "", `${ORIGIN}.example/`]) {
      address = wrong;
      const shown = front();
      opens(shown);
      await preview?.show();
      expect(shown.location.replace).not.toHaveBeenCalled();
      expect(shown.close).toHaveBeenCalled();
    }
    refuse = new Failure(500, {});
    const shown = front();
    opens(shown);
    await preview?.show();
    expect(shown.close).toHaveBeenCalled();
    opens(null);
    await preview?.show();
  });

  it("gets a message about each change, for the origin of the front end alone", async () => {
    const { session, keeper, preview } = await form();
    const shown = front();
    opens(shown);
    await preview?.show();
    session.store.set("title", "New");
    await keeper.autosave();
    keeper.saved(false);
    expect(shown.postMessage.mock.calls).toEqual([MESSAGE, MESSAGE]);
  });

  it("is there where the site names the front end's address and the record has links", async () => {
    expect((await form(null)).preview).toBeNull();
    expect((await form()).preview).not.toBeNull();
  });
});

describe("the pane", () => {
  it("follows what is typed, and is loaded again after each autosave", async () => {
    const { session, preview } = await form();
    session.store.set("title", "Never mind");
    await settle();
    expect(asked).toEqual([]);
    const page = await pane(preview);
    expect(asked).toEqual(["autosave Never mind", "preview_link"]);
    session.store.set("title", "N");
    session.store.set("title", "Ne");
    await settle();
    expect(asked.slice(2)).toEqual(["autosave Ne"]);
    expect(page.postMessage.mock.calls).toEqual([MESSAGE]);
    expect(page.location.replace.mock.calls).toEqual([[address]]);
    preview?.close();
    session.store.set("title", "New");
    await settle();
    expect(asked).toHaveLength(3);
  });

  it("is not loaded again where its page says that it reads changes itself", async () => {
    const { keeper, preview } = await form();
    const page = await pane(preview);
    const refreshes = { type: "cms-server:refreshes" };
    // Others say so in vain.
    says(refreshes, ORIGIN, {});
    says(refreshes, "https://other.example", page);
    says("cms-server:refreshes", ORIGIN, page);
    keeper.saved(false);
    expect(page.location.replace).toHaveBeenCalledTimes(1);
    says(refreshes, ORIGIN, page);
    keeper.saved(false);
    expect(page.location.replace).toHaveBeenCalledTimes(1);
    expect(page.postMessage.mock.calls).toEqual([MESSAGE, MESSAGE]);
  });

  it("gets a new link before its own ends", async () => {
    const { keeper, preview } = await form();
    const page = await pane(preview);
    await vi.advanceTimersByTimeAsync(55 * 60_000);
    address = `${ORIGIN}/preview?token=next`;
    keeper.saved(false);
    await settle();
    expect(preview?.pane.value?.address).toBe(address);
    expect(page.location.replace).not.toHaveBeenCalled();
  });
});
