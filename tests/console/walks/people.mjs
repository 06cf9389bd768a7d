// People: an invitation by e-mail, roles, sessions, application passwords.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, eventually, heading, open, press, publish, settled, stored } from "../steps.mjs";

export const site = {
  roles: ["administrator", "editor"],
  settings: ["mail.url=file:{folder}/mail", "mail.from=cms@example.org"],
};

const users = "/cms/v2/users";
const posts = "/cms/v2/posts";
const CHOSEN = "a password of her own";

/** The address in a message to somebody that begins so. */
function linkTo(server, address, start) {
  const folder = join(server.folder, "mail");
  return eventually(`a message to ${address}`, () => {
    const messages = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".eml")) : [];
    const texts = messages.map((name) => readFileSync(join(folder, name), "utf8").replaceAll("=\r\n", "").replaceAll("=3D", "="));
    const found = texts.find((text) => /^To: (.*)$/m.exec(text)?.[1].includes(address));
    return found?.split(/\r?\n/).find((line) => line.startsWith(start));
  });
}

const panel = (page, name) => page.getByRole("region", { name, exact: true });
/** The rows of what belongs to a record. */
const rows = (page, name) => panel(page, name).locator("tbody").getByRole("row");
const confirm = (page, action) => page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click();

/** Logs in where the login of a session that has ended opens. */
async function comeBack(person, act) {
  const { page } = person;
  await act();
  const dialog = page.getByRole("dialog", { name: "You are logged out" });
  await dialog.waitFor();
  const opened = person.context.waitForEvent("page");
  await dialog.getByRole("link", { name: "Log in" }).click();
  const login = await opened;
  await person.enter(login);
  await login.waitForURL((url) => url.pathname.startsWith("/admin"));
  await login.close();
  await page.bringToFront();
  // A window that was never in front has no focus to come back to.
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await dialog.waitFor({ state: "hidden" });
}

export const walks = {
  async "somebody is invited, sets a password, writes, and gets another role"({ server, meet }) {
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/users");
    await page.getByRole("main").getByRole("link", { name: "Add user" }).click();
    await page.getByRole("textbox", { name: /^Username/ }).fill("nina");
    await page.getByRole("textbox", { name: /^E-mail/ }).fill("nina@example.com");
    // An invitation comes first: nobody has to invent a password.
    assert.equal(await page.getByRole("radio", { name: /^Send an invitation/ }).isChecked(), true);
    assert.equal(await page.getByRole("textbox", { name: /^Password/ }).count(), 0);
    await page.getByText("(default)").waitFor();
    await page.getByRole("checkbox", { name: "Contributor" }).check();
    await stored(page, () => press(page, "Create"), /saved|created/i);
    await page.waitForURL(/\/r\/users\/\d+$/);
    await heading(page, "nina").waitFor();
    await page.getByText("An invitation to nina is on its way.").first().waitFor();
    const link = await linkTo(server, "nina@example.com", `${server.origin}/`);

    const nina = await meet();
    const own = nina.page;
    await own.goto(link);
    await nina.accessible("the page of an invitation");
    await own.getByLabel("New password").fill(CHOSEN);
    await own.getByRole("button", { name: "Set the password" }).click();
    await own.waitForLoadState();
    await nina.logIn("nina", { password: CHOSEN });
    await settled(own);
    await open(nina, "/r/posts/new");
    await own.getByRole("textbox", { name: "Title", exact: true }).fill("My first day");
    await own.getByRole("button", { name: "Submit for review" }).waitFor();
    assert.equal(await own.getByRole("button", { name: "Publish", exact: true }).count(), 0);
    await stored(own, () => press(own, "Save draft"));

    // The link was for once.
    const mallory = await meet({ expected: [/4\d\d \(/] });
    await mallory.page.goto(link);
    assert.equal(await mallory.page.getByLabel("New password").count(), 0, "an invitation is used twice");

    // Another role: what nina sees follows. Her password made another version of the account, of which the form shows nothing.
    ada.excuse(/412 \(Precondition Failed\)/);
    await page.getByRole("checkbox", { name: "Contributor" }).uncheck();
    await page.getByRole("checkbox", { name: "Author" }).check();
    await stored(page, () => press(page, "Save"));
    const { body: [account] } = await server.ask("administrator", "GET", `${users}?search=nina&context=edit`);
    assert.deepEqual(account.roles, ["author"]);
    await own.reload();
    await settled(own);
    await stored(own, () => publish(own));
    const { body: [first] } = await server.ask(null, "GET", `${posts}?author=${account.id}`);
    assert.equal(first.title.rendered, "My first day");
  },

  async "sessions are ended: one, then all others; nothing that was typed is lost"({ server, meet }) {
    const expected = [/401 \(Unauthorized\)|403 \(Forbidden\)|400 \(Bad Request\) .*nonce/];
    const userAgent = "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0";
    const [desk, phone, train] = [await meet(), await meet({ expected, userAgent, width: 390, height: 800 }), await meet({ expected })];
    for (const one of [desk, phone, train]) await one.logIn("editor");
    const { body: { id } } = await server.ask("editor", "POST", posts, { title: "Fog signal", status: "publish" });
    const title = phone.page.getByRole("textbox", { name: "Title", exact: true });
    await open(phone, `/r/posts/${id}`);
    await title.fill("Fog signal, tested");

    await open(desk, "/account");
    await desk.accessible("the account");
    const { page } = desk;
    assert.equal(await rows(page, "Sessions").count(), 3);
    const { body: sessions } = await server.ask("editor", "GET", "/console/v1/users/me/sessions");
    assert.equal(sessions.length, 3);
    await page.getByRole("button", { name: "Revoke Firefox on Android" }).click();
    await confirm(page, "Revoke");
    await eventually("two sessions are left", async () => (await server.ask("editor", "GET", "/console/v1/users/me/sessions")).body.length === 2);
    await comeBack(phone, () => press(phone.page, "Save"));
    assert.equal(await title.inputValue(), "Fog signal, tested");
    await eventually("the title is stored", async () => (await server.ask("editor", "GET", `${posts}/${id}`)).body.title.rendered === "Fog signal, tested");

    await title.fill("Fog signal, tested twice");
    await page.reload();
    await settled(page);
    await panel(page, "Sessions").getByRole("button", { name: "Revoke all" }).click();
    await confirm(page, "Revoke all");
    await eventually("one session is left", async () => (await server.ask("editor", "GET", "/console/v1/users/me/sessions")).body.length === 1);
    await eventually("the page shows it", async () => (await rows(page, "Sessions").count()) === 1);
    await comeBack(phone, () => press(phone.page, "Save"));
    await eventually("the title is stored", async () => (await server.ask("editor", "GET", `${posts}/${id}`)).body.title.rendered === "Fog signal, tested twice");
    // Somebody who opens another page lands at the login, and comes back to that page.
    await train.page.goto(`${server.origin}/admin/r/pages`);
    assert.match(new URL(train.page.url()).pathname, /login/);
    await train.enter(train.page);
    await train.page.waitForURL(/\/admin\/r\/pages/);
    await settled(train.page);
  },

  async "an application password is shown once, works, and is revoked"({ server, meet }) {
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, "/account");
    await panel(page, "Application passwords").getByRole("button", { name: /^New/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: /^Name/ }).fill("Newsletter");
    await dialog.getByRole("button", { name: "Create" }).click();
    const told = page.getByRole("dialog", { name: "Application password" });
    await told.waitFor();
    await erin.accessible("the text of an application password");
    const secret = (await told.locator("code").first().textContent()).trim();
    await told.getByRole("button", { name: "I have kept it" }).click();
    const as = (password) => fetch(`${server.origin}/cms-json${users}/me`, { headers: { Authorization: `Basic ${Buffer.from(`editor:${password}`).toString("base64")}` } });
    assert.equal((await as(secret)).status, 200);
    await page.reload();
    await settled(page);
    const row = rows(page, "Application passwords").filter({ hasText: "Newsletter" });
    await row.waitFor();
    assert.ok(!(await page.content()).includes(secret), "the text of the password is shown again");
    await row.getByRole("button", { name: "Revoke Newsletter" }).click();
    await confirm(page, "Revoke");
    await row.waitFor({ state: "detached" });
    assert.equal((await as(secret)).status, 401);
  },
};
