import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Api } from "../../src/api";
import type { Adapter, Item, One } from "../../src/api/adapter";
import type { Resource } from "../../src/api/description";
import { Failure, NetworkFailure } from "../../src/api/failure";
import type { JsonSchema, SchemaLink } from "../../src/model/json-schema";
import { UnsavedWork } from "../../src/model/unsaved";
import { Keeper } from "../../src/screens/form/keeper";
import { loadForm } from "../../src/screens/form/load";
import { Session } from "../../src/screens/form/session";
import { sampleDescription, sampleResource } from "./sample";

const wrapped: JsonSchema = { type: "object", properties: { raw: { type: "string", maxLength: 50 }, rendered: { type: "string", readonly: true } } };
const properties: Record<string, JsonSchema> = {
  id: { type: "integer", readonly: true },
  title: wrapped,
  content: wrapped,
  status: { type: "string", enum: ["publish", "future", "draft", "pending"] },
  date: { type: ["string", "null"], format: "date-time" },
  author: { type: "integer" },
  level: { type: "integer", minimum: 1 },
  password: { type: "string" },
};
const links: SchemaLink[] = [
  { rel: "https://api.example/action-publish", targetSchema: { properties: { status: { type: "string", enum: ["publish", "future"] } } } },
  { rel: "https://api.example/action-assign-author", targetSchema: { properties: { author: { type: "integer" } } } },
];
const operation = (method: "GET" | "POST" | "DELETE", path: string, args: string[] = []): Resource["operations"][string] => ({ method, path, args, file: false, batch: false });
const notes = sampleResource({
  states: ["publish", "future", "draft", "pending", "trash"],
  operations: {
    list: operation("GET", "/notes"), create: operation("POST", "/notes", Object.keys(properties)), get: operation("GET", "/notes/{id}", ["context"]),
    update: operation("POST", "/notes/{id}"), delete: operation("DELETE", "/notes/{id}", ["force"]),
    autosaves: operation("GET", "/notes/{id}/autosaves"), autosave: operation("POST", "/notes/{id}/autosaves"),
  },
});

/** A server of one record with versions; what it is asked stays. */
class Server {
  version = 1;
  item: Item = { id: 7, title: { raw: "Old", rendered: "Old" }, content: { raw: "x", rendered: "x" }, status: "draft", date: "2026-07-15T12:00:00", author: 1, level: 3, password: "", modified_gmt: "2026-07-15T10:00:00", _links: { "x:action-publish": [], "x:action-assign-author": [] } };
  asked: { name: string; body?: Item; ifMatch?: string | null | undefined }[] = [];
  refuse: unknown = null;
  autosaves: Item[] = [];
  autosaveId = 99;

  private one(): One {
    return { item: structuredClone(this.item), etag: `"${this.version}-x"`, allow: ["GET", "POST", "DELETE"] };
  }

  private apply(values: Item): void {
    for (const [name, value] of Object.entries(values)) {
      this.item[name] = typeof value === "object" && value !== null && "raw" in value ? { raw: String(value.raw).trim(), rendered: "" } : value;
    }
    this.version += 1;
  }

  /** Somebody else saves. */
  changed(values: Item): void {
    this.apply(values);
  }

  adapter = {
    one: async () => this.one(),
    create: async (_: Resource, body: Item) => {
      this.asked.push({ name: "create", body });
      if (this.refuse !== null) {
        throw this.refuse;
      }
      this.apply(body);
      return this.one();
    },
    update: async (_: Resource, __: unknown, body: Item, { ifMatch }: { ifMatch?: string | null } = {}) => {
      this.asked.push({ name: "update", body, ifMatch });
      if (this.refuse !== null) {
        throw this.refuse;
      }
      if (ifMatch !== undefined && ifMatch !== null && !ifMatch.startsWith(`"${this.version}-`)) {
        throw new Failure(412, { code: "rest_precondition_failed", message: "Changed." });
      }
      this.apply(body);
      return this.one();
    },
    call: async (_: Resource, name: string, { body }: { body?: Item } = {}) => {
      this.asked.push({ name, ...(body === undefined ? {} : { body }) });
      if (name === "autosaves") {
        return { data: this.autosaves };
      }
      if (this.autosaveId === 7) {
        this.apply(body ?? {});
      }
      return { data: { id: this.autosaveId } };
    },
  } as unknown as Adapter;
}

let server: Server;
let api: Api;

beforeEach(() => {
  server = new Server();
  const args = properties;
  api = {
    adapter: server.adapter,
    description: sampleDescription([notes]),
    schemas: { of: async () => ({ schema: { type: "object", properties, links } as never, args: { create: args as never, update: args as never, autosave: { title: wrapped, content: wrapped } as never } }) },
    http: { boot: { user: 1 } } as never,
  };
});
afterEach(() => vi.useRealTimers());

async function open(id: string | null = "7"): Promise<Session> {
  return new Session(api, await loadForm(api, notes, id, {}, "autosave"));
}
const QUIET = { kind: "saveDraft", state: null, now: false } as const;
const PUBLISH = { kind: "publish", state: "publish", now: false } as const;

describe("saving", () => {
  it("sends what differs, with the version that it began from, and nothing else", async () => {
    const session = await open();
    session.store.set("title", "New ");
    expect(await session.save(QUIET)).toBe("saved");
    expect(server.asked).toEqual([{ name: "update", body: { title: { raw: "New " } }, ifMatch: '"1-x"' }]);
    expect(session.store.cell("title").value).toBe("New");
    expect(session.store.dirty.value).toBe(false);
    session.store.set("level", 4);
    expect(await session.save(QUIET)).toBe("saved");
    expect(server.asked[1]).toEqual({ name: "update", body: { level: 4 }, ifMatch: '"2-x"' });
  });

  it("asks nothing where nothing differs", async () => {
    const session = await open();
    session.store.set("title", "New");
    session.store.set("title", "Old");
    expect(session.store.dirty.value).toBe(false);
    expect(await session.save(QUIET)).toBe("unchanged");
    expect(server.asked).toEqual([]);
  });

  it("a new record is created, then updated", async () => {
    const session = await open(null);
    session.store.set("title", "First");
    expect(await session.save({ ...QUIET, state: "draft" })).toBe("created");
    expect(server.asked[0]).toEqual({ name: "create", body: { title: { raw: "First" }, status: "draft" } });
    expect(session.id.value).toBe("7");
    session.store.set("level", 9);
    expect(await session.save(QUIET)).toBe("saved");
    expect(server.asked[1]?.name).toBe("update");
  });

  it("what is typed while it saves stays", async () => {
    const session = await open();
    session.store.set("title", "One");
    const saving = session.save(QUIET);
    session.store.set("title", "One and more");
    session.store.set("level", 8);
    await saving;
    expect([session.store.cell("title").value, session.store.cell("level").value, session.store.dirty.value]).toEqual(["One and more", 8, true]);
    expect(session.store.changes()).toEqual({ title: { raw: "One and more" }, level: 8 });
  });

  it("two presses are one after the other", async () => {
    const session = await open();
    session.store.set("title", "One");
    const both = await Promise.all([session.save(QUIET), session.save(QUIET)]);
    expect(both).toEqual(["saved", "unchanged"]);
  });

  it("what the form can tell is not sent", async () => {
    const session = await open();
    session.store.set("level", 0);
    session.store.set("title", "x".repeat(51));
    expect(await session.save(QUIET)).toBe("refused");
    expect(Object.keys(session.store.errors.value).sort()).toEqual(["level", "title"]);
    expect(server.asked).toEqual([]);
    session.store.set("level", 1);
    expect(Object.keys(session.store.errors.value)).toEqual(["title"]);
  });

  it("messages of the server land on their fields; the button's state does not stay", async () => {
    const session = await open();
    session.store.set("title", "New");
    server.refuse = new Failure(400, { code: "rest_invalid_param", message: "Wrong.", data: { params: { title: "title is wrong.", other: "other is wrong." } } });
    expect(await session.save(PUBLISH)).toBe("refused");
    expect(session.store.errors.value).toEqual({ title: "Title is wrong." });
    expect(session.store.summary.value).toEqual(["other is wrong."]);
    expect([session.store.cell("status").value, session.store.cell("title").value]).toEqual(["draft", "New"]);
  });

  it("without a network everything stays, and can be tried again", async () => {
    const session = await open();
    session.store.set("title", "New");
    server.refuse = new NetworkFailure(new Error("gone"));
    expect(await session.save(QUIET)).toBe("refused");
    expect([session.progress.value, session.store.cell("title").value, session.store.dirty.value]).toEqual(["offline", "New", true]);
    server.refuse = null;
    expect(await session.save(QUIET)).toBe("saved");
    expect(session.progress.value).toBe("saved");
  });

  it("publishing now takes the present as its date", async () => {
    vi.useFakeTimers({ now: Date.parse("2026-08-01T10:00:00Z"), toFake: ["Date"] });
    const session = await open();
    await session.save({ kind: "publishNow", state: "publish", now: true });
    expect(server.asked[0]?.body).toEqual({ status: "publish", date: "2026-08-01T12:00:00" });
  });
});

describe("what the caller may do", () => {
  it("follows from the record", async () => {
    server.item["_links"] = {};
    const session = await open();
    expect([session.mayPublish(), session.mayDelete()]).toEqual([false, true]);
    expect(session.fields.value.find((field) => field.path === "author")?.readOnly).toBe(true);
    expect(session.steps().primary.kind).toBe("submit");
  });

  it("is learnt from a refusal, where a new record does not say it", async () => {
    const session = await open(null);
    session.store.set("title", "Mine");
    expect(session.steps().primary.kind).toBe("publish");
    server.refuse = new Failure(403, { code: "rest_cannot_publish", message: "You may not publish." });
    expect(await session.save(PUBLISH)).toBe("refused");
    expect(session.store.summary.value).toEqual(["You may not publish."]);
    expect(session.steps().primary.kind).toBe("submit");
    expect(session.store.cell("title").value).toBe("Mine");
    expect((await open(null)).steps().primary.kind).toBe("submit");
  });

  it("is learnt from a record of their own", async () => {
    server.item["_links"] = { "x:action-assign-author": [] };
    await open();
    const fresh = await open(null);
    expect([fresh.steps().primary.kind, fresh.permissions.value.barred]).toEqual(["submit", { status: ["publish", "future"] }]);
  });

  it("where the editors' view is closed to them, the record is shown to be read", async () => {
    const asked: unknown[] = [];
    server.adapter.one = async (_, __, options) => {
      asked.push(options?.query?.["context"]);
      if (asked.length === 1) {
        throw new Failure(403, { code: "rest_forbidden_context", message: "Closed." });
      }
      return { item: { id: 7, title: { rendered: "Read me" } }, etag: null, allow: ["GET"] };
    };
    const session = await open();
    expect([session.mayWrite(), session.store.cell("title").value, asked]).toEqual([false, "Read me", [undefined, "view"]]);
  });

  it("a password that the server shows once is shown", async () => {
    const secret = { ...properties, password: { type: "string", readonly: true } };
    api.schemas = { of: async () => ({ schema: { type: "object", properties: secret, links } as never, args: { create: properties as never, update: properties as never } }) };
    server.item["password"] = "made up by the server";
    const session = await open(null);
    session.store.set("title", "For my phone");
    await session.save(QUIET);
    expect(session.once.value).toBe("made up by the server");
  });

  it("without an update everything is read-only", async () => {
    const session = new Session(api, await loadForm(api, { ...notes, operations: { get: notes.operations["get"] as Resource["operations"][string] } }, "7", {}, null));
    expect(session.mayWrite()).toBe(false);
  });
});

describe("conflicts", () => {
  it("show both versions; the choice is saved on top of theirs", async () => {
    const session = await open();
    session.store.set("title", "Mine");
    session.store.set("level", 5);
    server.changed({ title: { raw: "Theirs" }, content: { raw: "their text" } });
    expect(await session.save(QUIET)).toBe("conflict");
    expect(session.clash.value?.conflicts.map((one) => [one.field.path, one.mine, one.theirs, one.both])).toEqual([
      ["title", "Mine", "Theirs", true], ["content", "x", "their text", false], ["level", 5, 3, false],
    ]);
    expect(session.store.cell("title").value).toBe("Mine");
    expect(await session.settle({ title: "mine", content: "theirs", level: "mine" })).toBe("saved");
    expect(server.asked.at(-1)).toEqual({ name: "update", body: { title: { raw: "Mine" }, level: 5 }, ifMatch: '"2-x"' });
    expect(server.item).toMatchObject({ title: { raw: "Mine" }, content: { raw: "their text" }, level: 5 });
    expect(session.store.dirty.value).toBe(false);
  });

  it("keep what the button was to do", async () => {
    const session = await open();
    session.store.set("title", "Mine");
    server.changed({ title: { raw: "Theirs" } });
    expect(await session.save(PUBLISH)).toBe("conflict");
    expect(session.clash.value?.conflicts.map((one) => one.field.path)).toEqual(["title", "status"]);
    expect(await session.settle({ title: "theirs", status: "mine" })).toBe("saved");
    expect(server.asked.at(-1)?.body).toEqual({ status: "publish" });
  });

  it("can be put off: everything stays as it is", async () => {
    const session = await open();
    session.store.set("title", "Mine");
    server.changed({ title: { raw: "Theirs" } });
    await session.save(QUIET);
    session.clash.value = null;
    expect([session.store.cell("title").value, session.store.dirty.value]).toEqual(["Mine", true]);
    expect(await session.save(QUIET)).toBe("conflict");
  });

  it("where the other version differs in no field there is none", async () => {
    const session = await open();
    session.store.set("level", 4);
    server.changed({ hidden: "set by somebody else" });
    expect(await session.save(QUIET)).toBe("saved");
    expect(session.clash.value).toBeNull();
    expect(server.asked.map(({ ifMatch }) => ifMatch)).toEqual(['"1-x"', '"2-x"']);
    expect(server.item["level"]).toBe(4);
  });

  it("where both did the same there is none", async () => {
    const session = await open();
    session.store.set("title", "Same");
    server.changed({ title: { raw: "Same" } });
    expect(await session.save(QUIET)).toBe("saved");
    expect([session.clash.value, session.store.dirty.value, session.version]).toEqual([null, false, '"2-x"']);
  });
});

describe("unsaved work", () => {
  const work = (): UnsavedWork => new UnsavedWork(localStorage);
  const keeperOf = (session: Session): Keeper => new Keeper(session, work(), "https://site.example", 1);
  beforeEach(() => localStorage.clear());

  it("is kept while somebody types, and offered when the record is opened again", async () => {
    const first = await open();
    const keeper = keeperOf(first);
    const stop = keeper.start();
    first.store.set("title", "Half a tit");
    first.store.set("password", "hidden");
    keeper.flush();
    expect(keeper.kept.value).toBe(true);
    stop();
    const second = await open();
    const again = keeperOf(second);
    const stopAgain = again.start();
    expect(again.offer.value).toMatchObject({ from: "browser", values: { title: "Half a tit" }, outdated: false });
    expect(JSON.stringify(Object.values(localStorage))).not.toContain("hidden");
    again.flush();
    again.restore();
    expect([second.store.cell("title").value, second.store.dirty.value, again.offer.value]).toEqual(["Half a tit", true, null]);
    stopAgain();
  });

  it("is gone once it is saved, or discarded", async () => {
    const session = await open();
    const keeper = keeperOf(session);
    const stop = keeper.start();
    session.store.set("title", "New");
    keeper.flush();
    await session.save(QUIET);
    keeper.saved(false);
    expect(localStorage.length).toBe(0);
    session.store.set("title", "Newer");
    keeper.flush();
    const other = keeperOf(await open());
    const stopOther = other.start();
    other.discard();
    expect([other.offer.value, localStorage.length]).toEqual([null, 0]);
    stop();
    stopOther();
  });

  it("of a new record goes with it", async () => {
    const session = await open(null);
    const keeper = keeperOf(session);
    const stop = keeper.start();
    session.store.set("title", "First");
    keeper.flush();
    expect(localStorage.length).toBe(1);
    await session.save({ ...QUIET, state: "draft" });
    keeper.saved(true);
    expect(localStorage.length).toBe(0);
    stop();
  });

  it("says when the record was saved since", async () => {
    const first = await open();
    const keeper = keeperOf(first);
    const stop = keeper.start();
    first.store.set("title", "Mine");
    keeper.flush();
    stop();
    server.changed({ content: { raw: "theirs" } });
    const again = keeperOf(await open());
    const stopAgain = again.start();
    expect(again.offer.value?.outdated).toBe(true);
    stopAgain();
  });

  it("that equals the record is no offer", async () => {
    work().write({ site: "https://site.example", user: 1, resource: "notes", id: "7" }, null, { title: "Old", author: 1 });
    const keeper = keeperOf(await open());
    const stop = keeper.start();
    expect(keeper.offer.value).toBeNull();
    stop();
  });

  it("goes to the server where there are autosaves: what it takes, once", async () => {
    const session = await open();
    const keeper = keeperOf(session);
    session.store.set("title", "New");
    session.store.set("level", 9);
    await keeper.autosave();
    await keeper.autosave();
    expect(server.asked.filter((one) => one.name === "autosave")).toEqual([{ name: "autosave", body: { title: { raw: "New" }, content: { raw: "x" } } }]);
    expect(session.store.dirty.value).toBe(true);
  });

  it("an autosave that is the record itself is no conflict with it", async () => {
    server.autosaveId = 7;
    const session = await open();
    const keeper = keeperOf(session);
    session.store.set("title", "New");
    session.store.set("level", 9);
    await keeper.autosave();
    expect(session.store.changes()).toEqual({ level: 9 });
    expect(await session.save(QUIET)).toBe("saved");
  });

  it("of the server is offered where it is newer than the record, and the caller's own", async () => {
    const autosave = { id: 99, author: 1, modified_gmt: "2026-07-15T11:00:00", title: { raw: "From another tab" }, content: { raw: "x" } };
    server.autosaves = [{ ...autosave, author: 2 }, autosave];
    const keeper = keeperOf(await open());
    const stop = keeper.start();
    await vi.waitFor(() => expect(keeper.offer.value).toMatchObject({ from: "server", values: { title: "From another tab" } }));
    keeper.discard();
    stop();
    const declined = keeperOf(await open());
    const stopDeclined = declined.start();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(declined.offer.value).toBeNull();
    stopDeclined();
    server.autosaves = [{ ...autosave, modified_gmt: "2026-07-15T09:00:00" }];
    const older = keeperOf(await open());
    const stopOlder = older.start();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(older.offer.value).toBeNull();
    stopOlder();
  });

  it("of the server never offers an empty text in the place of a written one", async () => {
    server.autosaves = [{ id: 99, author: 1, modified_gmt: "2026-07-15T11:00:00", title: { raw: "" }, content: { raw: "" }, meta: {} }];
    const keeper = keeperOf(await open());
    const stop = keeper.start();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(keeper.offer.value).toBeNull();
    server.autosaves = [{ id: 99, author: 1, modified_gmt: "2026-07-15T11:00:00", title: { raw: "New" }, content: { raw: "" } }];
    const other = keeperOf(await open());
    const stopOther = other.start();
    await vi.waitFor(() => expect(other.offer.value?.values).toEqual({ title: "New" }));
    stop();
    stopOther();
  });

  it("of the server holds neither a state nor a date, a password or what is not valid yet", async () => {
    api.schemas = { of: async () => ({ schema: { type: "object", properties, links } as never, args: { create: properties as never, update: properties as never, autosave: properties as never } }) } as never;
    const session = await open();
    const keeper = keeperOf(session);
    session.store.set("status", "publish");
    session.store.set("date", "2030-01-01T00:00:00");
    session.store.set("password", "secret");
    await keeper.autosave();
    expect(server.asked).toEqual([]);
    session.store.set("level", 0);
    session.store.set("title", "New");
    await keeper.autosave();
    expect(server.asked).toEqual([{ name: "autosave", body: { title: { raw: "New" }, content: { raw: "x" } } }]);
    session.store.set("level", 4);
    await keeper.autosave();
    expect(server.asked[1]?.body).toEqual({ title: { raw: "New" }, content: { raw: "x" }, level: 4 });
  });
});
