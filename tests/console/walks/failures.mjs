// What goes wrong while somebody writes: the server is away, the session ends, somebody else saves first, the tab is closed.
import { assert, eventually, open, press, settled, stored } from "../steps.mjs";
import { PASSWORD } from "../server.mjs";

export const site = { roles: ["administrator", "editor"] };

const posts = "/cms/v2/posts";

async function written(server, title, content = "<!-- wp:paragraph -->\n<p>First.</p>\n<!-- /wp:paragraph -->") {
  const { body } = await server.ask("administrator", "POST", posts, { title, content, status: "publish" });
  return body.id;
}
const read = async (server, id) => (await server.ask("administrator", "GET", `${posts}/${id}?context=edit`)).body;
const titleOf = (page) => page.getByRole("textbox", { name: "Title", exact: true });
const excerptOf = (page) => page.getByRole("textbox", { name: "Excerpt", exact: true });

export const walks = {
  async "the server goes away while somebody types, and comes back"({ server, meet }) {
    const id = await written(server, "Ferry times");
    const ada = await meet({ expected: [/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/] });
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, `/r/posts/${id}`);
    await titleOf(page).fill("Ferry times in winter");
    await server.stop();
    await excerptOf(page).pressSequentially("Three times a day");
    await press(page, "Save");
    await page.getByText(/The server does not respond/).first().waitFor();
    assert.equal(await titleOf(page).inputValue(), "Ferry times in winter");
    assert.equal(await excerptOf(page).inputValue(), "Three times a day");
    await ada.accessible("the form without a server");
    await excerptOf(page).press("End");
    await excerptOf(page).pressSequentially(".");
    await server.restart();
    await stored(page, () => press(page, "Save"));
    const { title, excerpt } = await read(server, id);
    assert.equal(title.raw, "Ferry times in winter");
    assert.equal(excerpt.raw, "Three times a day.");
  },

  async "the answer to a change is lost on its way, and nobody has to choose"({ server, meet }) {
    const id = await written(server, "Tide gauge");
    const ada = await meet({ expected: [/ERR_FAILED|412 \(Precondition Failed\)/] });
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, `/r/posts/${id}`);
    await titleOf(page).fill("Tide gauge, read twice a day");
    let lost = 0;
    await page.route(new RegExp(`${posts}/${id}(\\?|$)`), async (route) => {
      if (route.request().method() === "GET" || lost > 0) return route.fallback();
      lost += 1;
      await route.fetch();
      return route.abort("failed");
    });
    await press(page, "Save");
    await page.getByText(/The server does not respond/).first().waitFor();
    assert.equal((await read(server, id)).title.raw, "Tide gauge, read twice a day");
    await excerptOf(page).fill("At high and low water.");
    await stored(page, () => press(page, "Save"));
    const { title, excerpt } = await read(server, id);
    assert.deepEqual([title.raw, excerpt.raw], ["Tide gauge, read twice a day", "At high and low water."]);
  },

  async "two people save the same record, and both versions are shown"({ server, meet }) {
    const id = await written(server, "Opening hours");
    const ada = await meet({ expected: [/412 \(Precondition Failed\)/] });
    const erin = await meet();
    await ada.logIn("administrator");
    await erin.logIn("editor");
    await open(ada, `/r/posts/${id}`);
    await open(erin, `/r/posts/${id}`);
    await titleOf(erin.page).fill("Opening hours in May");
    await excerptOf(erin.page).fill("Ten to four.");
    await stored(erin.page, () => press(erin.page, "Save"));
    await titleOf(ada.page).fill("Opening hours in June");
    await press(ada.page, "Save");
    const dialog = ada.page.getByRole("dialog", { name: "Somebody else has changed this" });
    await dialog.waitFor();
    for (const version of ["Opening hours in May", "Opening hours in June"]) await dialog.getByText(version).first().waitFor();
    await ada.accessible("the conflict");
    await dialog.getByRole("radio", { name: /Keep yours/ }).first().check();
    await stored(ada.page, () => dialog.getByRole("button", { name: "Save this choice" }).click());
    const { title, excerpt } = await read(server, id);
    assert.equal(title.raw, "Opening hours in June");
    assert.equal(excerpt.raw, "Ten to four.");
  },

  async "the session ends while somebody types"({ server, meet }) {
    const id = await written(server, "Night watch");
    const ada = await meet({ expected: [/401 \(Unauthorized\)|403 \(Forbidden\)|400 \(Bad Request\) .*nonce/] });
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, `/r/posts/${id}`);
    await titleOf(page).fill("Night watch, kept");
    // The session ends under the save itself: before it, another request could open the dialog over the button.
    await page.route(`**/posts/${id}*`, async (route) => {
      if (route.request().method() !== "GET") await ada.context.clearCookies();
      await route.continue();
    });
    await press(page, "Save");
    const dialog = page.getByRole("dialog", { name: "You are logged out" });
    await dialog.waitFor();
    await page.unroute(`**/posts/${id}*`);
    await ada.accessible("the dialog of a session that has ended");
    const opened = ada.context.waitForEvent("page");
    await dialog.getByRole("link", { name: "Log in" }).click();
    const login = await opened;
    await login.getByLabel(/login|user/i).first().fill("administrator");
    await login.getByLabel(/^password/i).first().fill(PASSWORD);
    await login.getByRole("button", { name: /log in/i }).click();
    await login.waitForLoadState();
    await page.bringToFront();
    await page.waitForFunction(() => !document.querySelector("dialog[open]"), undefined, { timeout: 2000 })
      .catch(() => dialog.getByRole("button", { name: "I have logged in" }).click());
    await dialog.waitFor({ state: "hidden" });
    assert.equal(await titleOf(page).inputValue(), "Night watch, kept");
    await eventually("the title is stored", async () => (await read(server, id)).title.raw === "Night watch, kept");
  },

  async "the tab is closed without saving, and its work is offered again"({ server, meet }) {
    const id = await written(server, "Storm log");
    const ada = await meet();
    await ada.logIn("administrator");
    await open(ada, `/r/posts/${id}`);
    await titleOf(ada.page).fill("Storm log of 1894");
    await ada.page.getByText(/Not saved yet/).first().waitFor();
    await ada.page.waitForFunction(() => Object.values(localStorage).some((kept) => kept.includes("Storm log of 1894")));
    const next = await ada.context.newPage();
    // A crash asks nobody.
    await ada.page.close({ runBeforeUnload: false });
    await next.goto(`${server.origin}/admin/r/posts/${id}`);
    await settled(next);
    const offer = next.getByRole("region", { name: "Unsaved work" });
    await offer.getByRole("button", { name: "Compare" }).click();
    const compared = next.getByRole("dialog", { name: "Unsaved work" });
    await compared.getByText("Storm log of 1894").first().waitFor();
    await compared.getByRole("button", { name: "Restore" }).click();
    assert.equal(await titleOf(next).inputValue(), "Storm log of 1894");
    await stored(next, () => press(next, "Save"));
    assert.equal((await read(server, id)).title.raw, "Storm log of 1894");
    await next.reload();
    await settled(next);
    assert.equal(await next.getByRole("region", { name: "Unsaved work" }).count(), 0);
  },

  async "what the server refuses is said in German"({ server, meet }) {
    const { body: taken } = await server.ask("administrator", "POST", "/cms/v2/categories", { name: "Hafen" });
    const ada = await meet({ locale: "de-DE", expected: [/400 \(Bad Request\)/] });
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/categories/new");
    await page.getByRole("textbox", { name: /^Name/ }).fill(taken.name);
    await press(page, "Anlegen");
    await page.getByText("Einen Begriff mit diesem Namen gibt es hier schon.").first().waitFor();
    assert.doesNotMatch(await page.locator("main").innerText(), /exists already/);
    await ada.accessible("a refusal in German");
    page.once("dialog", (question) => void question.accept());
  },
};
