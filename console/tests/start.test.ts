import { describe, expect, it } from "vitest";
import { api, startApi } from "../src/api";
import { createHttp } from "../src/api/http";
import { DESCRIPTION } from "./fixtures/api";
import { BOOT, FakeServer } from "./fixtures/http";

describe("the start", () => {
  it("uses the description that came with the page, and asks for nothing", async () => {
    const server = new FakeServer(() => ({ status: 500 }));
    await startApi(createHttp({ ...BOOT, description: DESCRIPTION }, server));
    expect(api().description).toBe(DESCRIPTION);
    expect(server.seen).toEqual([]);
  });

  it("asks for the description where the page has none", async () => {
    const server = new FakeServer(() => ({ body: DESCRIPTION }));
    await startApi(createHttp({ ...BOOT, description: null }, server));
    expect(api().description).toEqual(DESCRIPTION);
    expect(server.seen.map((one) => one.address)).toEqual(["/cms-json/console/v1/description?lang=en"]);
  });
});

describe("answers that came with the page", () => {
  const answers = [{ path: "/cms/v2/things", query: { per_page: "20", _fields: "id,title" }, headers: [["X-CMS-Total", "1"]] as [string, string][], body: [{ id: 1 }] }];
  const query = { _fields: ["id", "title"], per_page: 20 };

  it("are used once, whatever the order of the arguments", async () => {
    const server = new FakeServer(() => ({ body: [] }));
    const http = createHttp({ ...BOOT, answers }, server);
    const first = await http.request("/cms/v2/things", { query });
    expect([first.data, first.headers.get("x-cms-total")]).toEqual([[{ id: 1 }], "1"]);
    expect(server.seen).toEqual([]);
    expect((await http.request("/cms/v2/things", { query })).data).toEqual([]);
  });

  it("are not used for another query, nor for another method", async () => {
    const server = new FakeServer(() => ({ body: "asked" }));
    const http = createHttp({ ...BOOT, answers }, server);
    expect((await http.request("/cms/v2/things", { query: { ...query, per_page: 10 } })).data).toBe("asked");
    expect((await http.request("/cms/v2/things", { query, method: "OPTIONS" })).data).toBe("asked");
    expect((await http.request("/cms/v2/things", { query })).data).toEqual([{ id: 1 }]);
  });

  it("are forgotten when something is changed", async () => {
    const server = new FakeServer(() => ({ body: "asked" }));
    const http = createHttp({ ...BOOT, answers }, server);
    await http.request("/cms/v2/things", { method: "POST", body: {} });
    expect((await http.request("/cms/v2/things", { query })).data).toBe("asked");
  });
});
