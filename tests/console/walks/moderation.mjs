// Comments, people and settings.
import { assert, choose, eventually, heading, open, press, settled, stored } from "../steps.mjs";
import { PASSWORD } from "../server.mjs";

export const site = { demo: true, roles: ["administrator", "editor"] };

const comments = "/cms/v2/comments";
const statusOf = async (server, id) => (await server.ask("editor", "GET", `${comments}/${id}?context=edit`)).body.status;

export const walks = {
  async "an editor goes through the comments that wait"({ server, meet }) {
    const { body: [waiting] } = await server.ask("editor", "GET", `${comments}?status=hold&context=edit`);
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await page.getByRole("link", { name: /Waiting/ }).click();
    await heading(page, "Comments").waitFor();
    const said = page.getByRole("listitem", { name: "From Jory" });
    await erin.accessible("the comments that wait");
    await said.getByRole("button", { name: "Approve: Jory" }).click();
    await eventually("the comment is approved", async () => (await statusOf(server, waiting.id)) === "approved");
    await page.getByRole("button", { name: "Undo" }).last().click();
    await eventually("the comment waits again", async () => (await statusOf(server, waiting.id)) === "hold");
    await said.getByRole("button", { name: "Spam: Jory" }).click();
    await eventually("the comment is spam", async () => (await statusOf(server, waiting.id)) === "spam");
    await page.getByRole("navigation", { name: "States" }).getByRole("link", { name: /Spam/ }).click();
    await said.getByRole("button", { name: "Trash: Jory" }).click();
    await eventually("the comment is in the trash", async () => (await statusOf(server, waiting.id)) === "trash");
    await page.getByRole("navigation", { name: "States" }).getByRole("link", { name: /Trash/ }).click();
    await said.getByRole("button", { name: "Restore: Jory" }).click();
    await eventually("the comment is where it was", async () => (await statusOf(server, waiting.id)) === "spam");

    // By keys: the first of those that are approved gets an answer.
    await page.getByRole("navigation", { name: "States" }).getByRole("link", { name: /Approved/ }).click();
    const { body: [first] } = await server.ask("editor", "GET", `${comments}?status=approve&context=edit&per_page=1`);
    const one = page.getByRole("listitem", { name: `From ${first.author_name}` }).first();
    await one.waitFor();
    await one.focus();
    await page.keyboard.press("r");
    await page.waitForFunction(() => document.activeElement?.matches("textarea"));
    await page.keyboard.type("Thank you, we have mended it.");
    await erin.accessible("a reply");
    await page.keyboard.press("Control+Enter");
    await eventually("the reply is there", async () => {
      const { body } = await server.ask("editor", "GET", `${comments}?parent=${first.id}&context=edit&status=approve`);
      return body.some((answer) => answer.content.raw === "Thank you, we have mended it.");
    });
  },

  async "an administrator adds somebody, gives a role and an application password"({ server, meet }) {
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/users/new");
    await page.getByRole("textbox", { name: /^(User ?name|Login name)/i }).fill("nina");
    await page.getByRole("textbox", { name: /e-?mail/i }).fill("nina@example.com");
    await page.getByRole("textbox", { name: /^Password/ }).fill(PASSWORD);
    await ada.accessible("a new user");
    await stored(page, () => press(page, "Create"), /saved|created/i);
    const { body: [nina] } = await server.ask("administrator", "GET", "/cms/v2/users?search=nina&context=edit");
    assert.equal(nina.email, "nina@example.com");

    await open(ada, `/r/users/${nina.id}`);
    await page.getByRole("checkbox", { name: /^Author/ }).check();
    await stored(page, () => press(page, "Save"));
    const after = await server.ask("administrator", "GET", `/cms/v2/users/${nina.id}?context=edit`);
    assert.ok(after.body.roles.includes("author"), JSON.stringify(after.body.roles));

    const own = await meet();
    await own.logIn("nina");
    await settled(own.page);

    const me = (await server.ask("administrator", "GET", "/cms/v2/users/me")).body.id;
    await open(ada, `/r/users/${me}`);
    const passwords = page.getByRole("region", { name: "Application passwords" });
    await passwords.getByRole("button", { name: /^New/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: /^Name/ }).fill("Newsletter");
    await ada.accessible("a new application password");
    await dialog.getByRole("button", { name: /^Create|^Make|^Add/ }).click();
    await eventually("the application password is there", async () => {
      const { body } = await server.ask("administrator", "GET", `/cms/v2/users/${me}/application-passwords`);
      return body.some((one) => one.name === "Newsletter");
    });
  },

  async "settings are changed and seen"({ server, meet }) {
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/settings");
    await page.getByRole("textbox", { name: "Title", exact: true }).fill("Ternsey Light");
    await page.getByRole("combobox", { name: /First day/ }).selectOption({ label: "Sunday" }).catch(() => page.getByRole("spinbutton", { name: /First day/ }).fill("0"));
    await stored(page, () => press(page, "Save"));
    const { body } = await server.ask("administrator", "GET", "/cms/v2/settings");
    assert.equal(body.title, "Ternsey Light");
    assert.equal(body.start_of_week, 0);
    await open(ada, "/");
    await page.getByRole("link", { name: "Ternsey Light" }).first().waitFor();
  },

  async "terms are moved below others, by keys"({ server, meet }) {
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/categories?layout=tree");
    const news = page.getByRole("row").filter({ has: page.getByRole("link", { name: "News", exact: true }) });
    await news.focus();
    await page.keyboard.press("Alt+ArrowRight");
    const { body: [stored] } = await server.ask("administrator", "GET", "/cms/v2/categories?slug=news");
    await eventually("the category is below another", async () => (await server.ask("administrator", "GET", `/cms/v2/categories/${stored.id}`)).body.parent !== 0);
    await ada.accessible("the tree of categories");
    await news.focus();
    await page.keyboard.press("Alt+ArrowLeft");
    await eventually("the category is at the top", async () => (await server.ask("administrator", "GET", `/cms/v2/categories/${stored.id}`)).body.parent === 0);
  },
};
