import { describe, expect, it } from "vitest";
import { Failure, NetworkFailure } from "../src/api/failure";
import { createHttp } from "../src/api/http";
import { BOOT, FakeServer, failure } from "./fixtures/http";

describe("the nonce", () => {
  it("goes with each request, and the newest is used", async () => {
    const server = new FakeServer(() => ({ body: {}, headers: { "X-CMS-Nonce": "second" } }));
    const http = createHttp(BOOT, server);
    await http.request("/a");
    await http.request("/b");
    expect(server.seen.map((request) => request.headers["X-CMS-Nonce"])).toEqual(["first", "second"]);
  });

  it("is fetched anew when it no longer fits, and the request is repeated once", async () => {
    const server = new FakeServer((request) => {
      if (request.address === "/nonce") return { body: "fresh" };
      return request.headers["X-CMS-Nonce"] === "fresh" ? { body: { ok: true } } : failure(403, "rest_cookie_invalid_nonce");
    });
    const answer = await createHttp(BOOT, server).request("/a", { method: "POST", body: { x: 1 } });
    expect(answer.data).toEqual({ ok: true });
    expect(server.seen.map((request) => request.address)).toEqual(["/cms-json/a", "/nonce", "/cms-json/a"]);
  });

  it("is fetched once for requests that fail together", async () => {
    const server = new FakeServer((request) => {
      if (request.address === "/nonce") return { body: "fresh" };
      return request.headers["X-CMS-Nonce"] === "fresh" ? { body: 1 } : failure(403, "rest_cookie_invalid_nonce");
    });
    const http = createHttp(BOOT, server);
    await Promise.all([http.request("/a"), http.request("/b"), http.request("/c")]);
    expect(server.seen.filter((request) => request.address === "/nonce")).toHaveLength(1);
  });

  it("is not fetched for another refusal", async () => {
    const server = new FakeServer(() => failure(403, "rest_forbidden"));
    await expect(createHttp(BOOT, server).request("/a")).rejects.toMatchObject({ status: 403, code: "rest_forbidden" });
    expect(server.seen).toHaveLength(1);
  });
});

/** A nonce as pages have it: bytes, then the nonce with these bytes added. */
function masked(nonce: string): string {
  const digits = (byte: number): string => byte.toString(16).padStart(2, "0");
  const bytes = [...nonce].map((_, place) => (place * 37 + 5) % 256);
  return [...bytes, ...bytes.map((byte, place) => byte ^ nonce.charCodeAt(place))].map(digits).join("");
}

describe("a session that has ended", () => {
  const page = (user: number): string =>
    `<script type="application/json" id="boot">${JSON.stringify({ ...BOOT, user, nonce: masked("again") })}</script>`;
  const serverFor = (user: number): FakeServer =>
    new FakeServer((request) => {
      if (request.address === "/nonce") return { status: 400, body: "0" };
      if (request.address === "/admin") return { body: page(user) };
      return request.headers["X-CMS-Nonce"] === "again" ? { body: "done" } : failure(401, "rest_not_logged_in");
    });

  it("lets requests wait, and they go on after the login", async () => {
    const http = createHttp(BOOT, serverFor(12));
    const waiting = http.request("/a", { method: "POST", body: {} });
    await expect.poll(() => http.ended.value).toBe(true);
    expect(await http.resume()).toBe("same");
    expect((await waiting).data).toBe("done");
    expect(http.ended.value).toBe(false);
  });

  it("is not taken over by another user", async () => {
    const http = createHttp(BOOT, serverFor(13));
    const waiting = http.request("/a");
    await expect.poll(() => http.ended.value).toBe(true);
    expect(await http.resume()).toBe("other");
    http.giveUp();
    await expect(waiting).rejects.toMatchObject({ status: 401 });
  });
});

describe("failures", () => {
  it("are repeated after the time that the server names", async () => {
    const server = new FakeServer((_, count) => (count < 3 ? failure(429, "rest_limited", {}, { "Retry-After": "2" }) : { body: 1 }));
    await createHttp(BOOT, server).request("/a", { method: "POST", body: {} });
    expect(server.waits).toEqual([2000, 2000]);
  });

  it("are not repeated when the change may have been made", async () => {
    const server = new FakeServer(() => failure(503, "rest_outcome_unknown", {}, { "Retry-After": "1" }));
    await expect(createHttp(BOOT, server).request("/a", { method: "POST" })).rejects.toBeInstanceOf(Failure);
    expect(server.seen).toHaveLength(1);
  });

  it("end after three repetitions", async () => {
    const server = new FakeServer(() => failure(503, "rest_busy", {}, { "Retry-After": "0" }));
    await expect(createHttp(BOOT, server).request("/a")).rejects.toMatchObject({ status: 503 });
    expect(server.seen).toHaveLength(4);
  });

  it("of the network repeat reads alone", async () => {
    const read = new FakeServer((_, count) => (count === 1 ? new TypeError("no network") : { body: 1 }));
    await createHttp(BOOT, read).request("/a");
    expect(read.seen).toHaveLength(2);
    const write = new FakeServer(() => new TypeError("no network"));
    const http = createHttp(BOOT, write);
    await expect(http.request("/a", { method: "POST" })).rejects.toBeInstanceOf(NetworkFailure);
    expect(write.seen).toHaveLength(1);
    expect(http.unreachable.value).toBe(true);
  });

  it("have a message for each argument", async () => {
    const told = { params: { title: "Too long." }, details: { title: { code: "rest_too_long" } } };
    const server = new FakeServer(() => failure(400, "rest_invalid_param", told));
    await expect(createHttp(BOOT, server).request("/a")).rejects.toMatchObject(told);
    const absent = new Failure(400, { code: "rest_missing_callback_param", message: "Absent: a.", data: { params: ["a"] } });
    expect(absent.params).toEqual({ a: "Absent: a." });
  });
});
