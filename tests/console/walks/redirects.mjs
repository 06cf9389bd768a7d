// An address that readers asked for in vain becomes a redirect.
import { assert, choose, eventually, heading, open, press, stored } from "../steps.mjs";

export const site = { roles: ["administrator", "editor"] };

const missing = "/server/v1/missing-addresses";

export const walks = {
  async "an editor makes a redirect of an address that was not found"({ server, meet }) {
    const resolve = (path) => server.ask(null, "GET", `/server/v1/resolve?path=${encodeURIComponent(path)}`);
    assert.equal((await resolve("/old-menu/")).status, 404);
    await eventually("it is counted", async () => (await server.ask("editor", "GET", missing)).body.length === 1);
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, "/");
    await page.getByRole("navigation").getByRole("link", { name: "Not found", exact: true }).click();
    await heading(page, "Not found").waitFor();
    await erin.accessible("the addresses that were not found");
    const row = page.getByRole("row").filter({ hasText: "/old-menu" });
    await choose(page, row.getByRole("button", { name: /^Actions/ }), "Add redirect");
    const from = page.getByRole("textbox", { name: /^From/ });
    await from.waitFor();
    assert.equal(await from.inputValue(), "/old-menu");
    await page.getByRole("textbox", { name: /^To/ }).fill("/menu/");
    await stored(page, () => press(page, "Create"), /saved|created/i);
    assert.equal((await resolve("/old-menu/")).body.location, `${server.origin}/menu/`);
    assert.deepEqual((await server.ask("editor", "GET", missing)).body, []);
  },
};
