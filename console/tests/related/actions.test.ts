import { describe, expect, it } from "vitest";
import { statesOf } from "../../src/api";
import { updateEach } from "../../src/api/batch";
import { versionOf } from "../../src/api/changes";
import { directOperations } from "../../src/model/actions";
import { decide, undo } from "../../src/screens/moderation/actions";
import { isQueue } from "../../src/screens/moderation/queue";
import { fakeApi, resourceOf } from "../fixtures/api";

const remarks = resourceOf("comments");
const pages = resourceOf("pages");

describe("changes of several records", () => {
  it("go in one batch, each with its own values", async () => {
    const { api, server } = fakeApi(() => ({ status: 207, body: { responses: [{ status: 200, body: { id: 4 } }, { status: 200, body: { id: 5 } }] } }));
    const before = versionOf(pages.name);
    const { done, failed } = await updateEach(api, pages, [{ id: 4, values: { menu_order: 2 } }, { id: 5, values: { parent: 4, menu_order: 3 } }]);
    expect(done.map(({ id }) => id)).toEqual([4, 5]);
    expect(failed).toEqual([]);
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.body).toEqual({
      requests: [
        { method: "POST", path: "/cms/v2/pages/4", body: { menu_order: 2 } },
        { method: "POST", path: "/cms/v2/pages/5", body: { parent: 4, menu_order: 3 } },
      ],
    });
    expect(versionOf(pages.name)).toBe(before + 1);
  });

  it("stop at the first batch that has a failure", async () => {
    const { api, server } = fakeApi(() => ({ status: 207, body: { responses: Array.from({ length: 25 }, (_, place) => (place === 3 ? { status: 403, body: { code: "rest_cannot_edit", message: "No." } } : { status: 200, body: {} })) } }));
    const { done, failed } = await updateEach(api, pages, Array.from({ length: 60 }, (_, place) => ({ id: place + 1, values: { menu_order: place } })));
    expect([done.length, failed.length, server.seen.length]).toEqual([24, 1, 1]);
    expect(failed[0]).toMatchObject({ id: 4, failure: { code: "rest_cannot_edit" } });
  });
});

describe("decisions", () => {
  it("are written, and taken back to the state that each record had", async () => {
    const { server } = fakeApi((request) => ({ status: 200, body: { id: 0, ...(request.body as object) } }));
    const states = statesOf(remarks);
    const items = [{ id: 1, status: "hold" }, { id: 2, status: "approved" }];
    const done = await decide(remarks, states, { name: "spam", to: "spam", items });
    expect(done.sort()).toEqual(["1", "2"]);
    expect(server.seen.map((request) => request.body)).toEqual([{ status: "spam" }, { status: "spam" }]);
    server.seen.length = 0;
    await undo();
    expect(server.seen.map((request) => [request.address.replace(/^.*\//, ""), request.body])).toEqual([["1", { status: "hold" }], ["2", { status: "approve" }]]);
    server.seen.length = 0;
    await undo();
    expect(server.seen).toEqual([]);
  });

  it("that the server refuses leave no way back to nowhere", async () => {
    const { server } = fakeApi(() => ({ status: 403, body: { code: "rest_cannot_edit", message: "No." } }));
    expect(await decide(remarks, statesOf(remarks), { name: "spam", to: "spam", items: [{ id: 1, status: "hold" }] })).toEqual([]);
    server.seen.length = 0;
    await undo();
    expect(server.seen).toEqual([]);
  });
});

describe("operations on one record", () => {
  it("need nothing but the record, and have no buttons of their own", () => {
    const operation = (method: "GET" | "POST" | "DELETE", end: string) => ({ method, path: `/cms/v2/pages/{id}${end}`, args: [], file: false, batch: false });
    const operations = {
      update: operation("POST", ""), invite: operation("POST", "/invitation"), preview_link: operation("POST", "/preview-links"),
      delete_preview_link: operation("DELETE", "/preview-links/{link}"), preview_links: operation("GET", "/preview-links"),
    };
    expect(directOperations({ ...pages, operations }, {}).map(({ name }) => name)).toEqual(["invite"]);
  });
});

describe("the queue", () => {
  it("stands in for the list where records wait and are no drafts", () => {
    fakeApi(() => ({ status: 200, body: [] }));
    expect([isQueue(remarks), isQueue(pages), isQueue(resourceOf("media")), isQueue(resourceOf("settings"))]).toEqual([true, false, false, false]);
  });
});
