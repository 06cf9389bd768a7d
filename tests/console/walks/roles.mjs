// Each role sees what it may do, and nothing else; what it sees works.
import { assert, choose, eventually, heading, open, picture, press, settled, stored } from "../steps.mjs";
import { PASSWORD, ROLES } from "../server.mjs";

export const site = { demo: true, roles: ROLES, settings: ["roles.contributor.locked=true"] };

const posts = "/cms/v2/posts";
const pages = "/cms/v2/pages";

const WRITING = ["Posts", "Pages", "Comments", "Categories", "Tags", "Blocks", "Pattern categories", "Reviews", "Media", "Folders"];

/** What the navigation shows, what the first screen offers to make, and the addresses of screens that are not there. */
const SEES = {
  administrator: { places: [...WRITING, "Users", "Roles", "Settings", "Redirects", "Not found", "Webhooks", "Deliveries", "Prompts", "Audit trail", "Declarations"], makes: ["Add post", "Add page", "Add block"], lacks: [] },
  editor: { places: [...WRITING, "Redirects", "Not found", "Prompts"], makes: ["Add post", "Add page", "Add block"], lacks: ["/r/settings", "/r/audit", "/r/users/new"] },
  author: { places: ["Posts", "Blocks", "Reviews", "Media", "Folders"], makes: ["Add post", "Add block"], lacks: ["/r/settings", "/r/audit", "/r/users/new", "/r/pages/new", "/r/categories/new"] },
  contributor: { places: ["Posts", "Blocks", "Reviews", "Media"], makes: ["Add post"], lacks: ["/r/settings", "/r/audit", "/r/users/new", "/r/pages/new", "/r/blocks/new"] },
  subscriber: { places: [], makes: [], lacks: ["/r/settings", "/r/audit", "/r/users/new", "/r/posts/new"] },
};

const navigation = (page) => page.getByRole("navigation", { name: "Main navigation" });
const texts = async (links) => (await links.allTextContents()).map((text) => text.trim());
const entries = (page) => page.getByRole("menu").getByRole("menuitem");
const title = (page) => page.getByRole("textbox", { name: "Title", exact: true });

async function looksAround(role, meet) {
  const { places, makes, lacks } = SEES[role];
  const one = await meet();
  const { page } = one;
  await one.logIn(role);
  await settled(page);
  // What is still looked up when the page is there adds an entry.
  await navigation(page).getByRole("link").nth(places.length + 1).waitFor();
  assert.deepEqual(await texts(navigation(page).getByRole("link")), ["Overview", ...places, "API explorer"]);
  assert.deepEqual(await texts(page.getByRole("main").getByRole("link", { name: /^Add / })), makes);
  for (const place of places) {
    await navigation(page).getByRole("link", { name: place, exact: true }).click();
    await heading(page, place).waitFor();
    await settled(page);
    assert.equal(await page.getByText("That did not work.").count(), 0, `${role}: ${place} fails`);
  }
  await one.accessible(`the last screen of ${role}`);
  for (const path of lacks) {
    await open(one, path);
    await heading(page, "There is no such page.").waitFor();
  }
  return one;
}

/** The entries of the menu of a row. */
async function menuOf(page, name) {
  await page.getByRole("button", { name: `Actions for “${name}”` }).click();
  await entries(page).first().waitFor();
  const found = await texts(entries(page));
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "hidden" });
  return found;
}

export const walks = {
  async "an administrator sees all, gives a new owner to what somebody wrote, and deletes the account"({ server, meet }) {
    const { body: leaving } = await server.ask("administrator", "POST", "/cms/v2/users", { username: "lena", email: "lena@example.com", password: PASSWORD, roles: ["author"] });
    const { body: left } = await server.ask("administrator", "POST", posts, { title: "Left behind", status: "publish", author: leaving.id });
    const { page, ...ada } = await looksAround("administrator", meet);
    await open({ page, ...ada }, "/r/users");
    await choose(page, page.getByRole("button", { name: "Actions for “lena”" }), "Delete permanently");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio").first().check();
    await dialog.getByRole("combobox").first().fill("editor");
    await page.getByRole("option", { name: "editor" }).first().click();
    await ada.accessible("the question before an account is deleted");
    await dialog.getByRole("button", { name: "Delete permanently" }).click();
    await eventually("the account is gone", async () => (await server.ask("administrator", "GET", `/cms/v2/users/${leaving.id}`)).status === 404);
    const { body: kept } = await server.ask("administrator", "GET", `${posts}/${left.id}?_embed=author`);
    assert.equal(kept._embedded.author[0].name, "editor");
  },

  async "an editor changes what others wrote, and puts it into the trash"({ server, meet }) {
    const { body: [first] } = await server.ask("administrator", "GET", `${pages}?slug=about`);
    const { page, ...erin } = await looksAround("editor", meet);
    const about = first ?? (await server.ask("administrator", "GET", pages)).body[0];
    await open({ page, ...erin }, `/r/pages/${about.id}`);
    await title(page).fill("About us");
    await stored(page, () => press(page, "Save"));
    assert.equal((await server.ask("editor", "GET", `${pages}/${about.id}`)).body.title.rendered, "About us");
    await open({ page, ...erin }, "/r/posts");
    assert.ok((await menuOf(page, "Counting terns")).includes("Move to the trash"));
  },

  async "an author changes and deletes their own alone, and sends files"({ server, meet }) {
    const { body: own } = await server.ask("author", "POST", posts, { title: "From the boat", status: "publish" });
    const { page, ...ann } = await looksAround("author", meet);
    await open({ page, ...ann }, "/r/posts");
    await eventually("the rows of others are not for changing", async () => (await page.getByRole("checkbox", { name: /^Select “/ }).count()) === 1);
    assert.deepEqual(await menuOf(page, "Counting terns"), ["Open", "View on the site"]);
    const may = await menuOf(page, "From the boat");
    for (const entry of ["Edit", "Set to: Draft", "Move to the trash"]) assert.ok(may.includes(entry), `${entry} is missing: ${may}`);
    await choose(page, page.getByRole("button", { name: "Actions for “From the boat”" }), "Move to the trash");
    await eventually("the record is in the trash", async () => (await server.ask("author", "GET", `${posts}/${own.id}?context=edit`)).body.status === "trash");

    await open({ page, ...ann }, "/r/media");
    const chosen = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Upload" }).click();
    await (await chosen).setFiles([picture("boat.png")]);
    await page.getByRole("link", { name: "boat", exact: true }).waitFor();
  },

  async "a contributor writes for review, and changes nothing that is published"({ server, meet }) {
    const { body: own } = await server.ask("contributor", "POST", posts, { title: "A first try", status: "pending" });
    const { page, ...cora } = await looksAround("contributor", meet);
    await open({ page, ...cora }, "/r/media");
    assert.equal(await page.getByRole("button", { name: "Upload" }).count(), 0);
    await open({ page, ...cora }, `/r/posts/${own.id}`);
    assert.equal(await page.getByRole("button", { name: "Publish", exact: true }).count(), 0);
    await title(page).fill("A second try");
    await stored(page, () => press(page, "Save"));
    const { body: stands } = await server.ask("administrator", "GET", `${posts}/${own.id}?context=edit`);
    assert.deepEqual([stands.title.raw, stands.status], ["A second try", "pending"]);
    // Once it is published it is out of their hands: it is read as visitors read it.
    cora.excuse(/403 \(Forbidden\).*\/posts\/\d+\?context=edit/);
    await server.ask("administrator", "POST", `${posts}/${own.id}`, { status: "publish" });
    await open({ page, ...cora }, `/r/posts/${own.id}`);
    await page.getByText("You may read this record, but not change it.").waitFor();
    assert.equal(await page.getByRole("main").getByRole("button", { name: "Save", exact: true }).count(), 0);
  },

  async "a subscriber sees their account, and reads"({ meet }) {
    const { page, ...sam } = await looksAround("subscriber", meet);
    await open({ page, ...sam }, "/account");
    await page.getByRole("region", { name: "Sessions" }).getByRole("row").nth(1).waitFor();
    sam.excuse(/403 \(Forbidden\).*(context=edit|application-passwords|second-factors|sessions)/);
    await open({ page, ...sam }, "/r/posts/512");
    await page.getByText("You may read this record, but not change it.").waitFor();
    // Of others they see what everybody sees.
    await open({ page, ...sam }, "/r/users/1");
    await eventually("what belongs to others is not there", async () => (await page.getByRole("region", { name: "Application passwords" }).count()) === 0);
    assert.equal(await page.getByText("That did not work.").count(), 0);
  },

  async "a role is copied, what is switched in its table holds at once, and a locked role stays"({ server, meet }) {
    const { page, ...ada } = await meet();
    await ada.logIn("administrator");
    const box = (action) => page.getByRole("checkbox", { name: new RegExp(`^Posts\\b.*: ${action}$`) });
    await open({ page, ...ada }, "/r/roles/author");
    await page.getByRole("main").getByRole("link", { name: "Copy", exact: true }).click();
    await page.getByRole("textbox", { name: /^Short name/ }).fill("drafter");
    await page.getByRole("textbox", { name: /^Name/ }).fill("Drafter");
    await box("publish").uncheck();
    await stored(page, () => press(page, "Save"));
    await heading(page, "Drafter").waitFor();
    await server.ask("administrator", "POST", "/cms/v2/users", { username: "dora", email: "dora@example.com", password: PASSWORD, roles: ["drafter"] });
    const writes = async (status) => (await server.ask("dora", "POST", posts, { title: status, status })).status;
    assert.deepEqual([await writes("draft"), await writes("publish")], [201, 403]);

    // The same on a phone.
    await page.setViewportSize({ width: 390, height: 800 });
    await open({ page, ...ada }, "/r/roles/drafter");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the table of a role does not fit a phone");
    await ada.accessible("a role on a phone");
    await box("publish").check();
    await stored(page, () => press(page, "Save"));
    assert.equal(await writes("publish"), 201);
    await open({ page, ...ada }, "/r/roles/contributor");
    await page.getByText("The files lock this role: it is changed there alone.").waitFor();
    assert.ok(await box("publish").isDisabled());
    assert.equal(await page.getByRole("main").getByRole("button", { name: "Save", exact: true }).count(), 0);
    assert.equal((await server.ask("administrator", "POST", "/server/v1/roles/contributor", { capabilities: ["read"] })).status, 403);
  },
};
