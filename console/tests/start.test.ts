import { describe, expect, it } from "vitest";
import { api, outdated, startApi } from "../src/api";
import { createHttp } from "../src/api/http";
import { DESCRIPTION } from "./fixtures/api";
import { BOOT, FakeServer } from "./fixtures/http";

function shelf(): { getItem: (key: string) => string | null; setItem: (key: string, value: string) => void } {
  const kept = new Map<string, string>();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => void kept.set(key, value) };
}

describe("the start", () => {
  it("uses the description that the visit has seen, and says when there is another one", async () => {
    let present = DESCRIPTION;
    const http = createHttp(BOOT, new FakeServer(() => ({ body: present })));
    const place = shelf();
    await startApi(http, place);
    expect(outdated.value).toBe(false);
    present = { ...DESCRIPTION, version: "another" };
    expect((await startApi(http, place)).description.version).toBe(DESCRIPTION.version);
    await expect.poll(() => outdated.value).toBe(true);
    expect((await startApi(http, place)).description.version).toBe("another");
    await expect.poll(() => outdated.value).toBe(false);
  });

  it("takes another description over as long as nobody has typed", async () => {
    let present = DESCRIPTION;
    const http = createHttp(BOOT, new FakeServer(() => ({ body: present })));
    const place = shelf();
    await startApi(http, place);
    present = { ...DESCRIPTION, version: "another" };
    await startApi(http, place, () => true);
    await expect.poll(() => api().description.version).toBe("another");
    expect(outdated.value).toBe(false);
  });

  it("takes the name of the site over as it is now", async () => {
    let present = DESCRIPTION;
    const http = createHttp(BOOT, new FakeServer(() => ({ body: present })));
    const place = shelf();
    await startApi(http, place);
    present = { ...DESCRIPTION, site: { ...DESCRIPTION.site, title: "Renamed" } };
    await startApi(http, place);
    await expect.poll(() => api().description.site.title).toBe("Renamed");
    expect(outdated.value).toBe(false);
  });

  it("is another one for another user", async () => {
    const place = shelf();
    await startApi(createHttp(BOOT, new FakeServer(() => ({ body: DESCRIPTION }))), place);
    const own = { ...DESCRIPTION, resources: [] };
    const other = await startApi(createHttp({ ...BOOT, user: 13 }, new FakeServer(() => ({ body: own }))), place);
    expect(other.description.resources).toEqual([]);
  });
});
