// Comments and settings.
import { assert, eventually, heading, open, press, stored } from "../steps.mjs";

export const site = { demo: true, roles: ["administrator", "editor"] };

const comments = "/cms/v2/comments";
const statusOf = async (server, id) => (await server.ask("editor", "GET", `${comments}/${id}?context=edit`)).body.status;

export const walks = {
  async "an editor goes through the comments that wait"({ server, meet }) {
    const { body: [waiting] } = await server.ask("editor", "GET", `${comments}?status=hold&context=edit`);
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    // The first screen shows what was written.
    const text = waiting.content.raw.replace(/<[^>]*>/g, "").trim().slice(0, 20);
    await page.getByRole("region", { name: "To review" }).getByRole("link").filter({ hasText: waiting.author_name }).getByText(text).first().waitFor();
    await erin.accessible("the first screen");
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
    await page.getByRole("navigation", { name: "Status" }).getByRole("link", { name: /Spam/ }).click();
    await said.getByRole("button", { name: "Trash: Jory" }).click();
    await eventually("the comment is in the trash", async () => (await statusOf(server, waiting.id)) === "trash");
    await page.getByRole("navigation", { name: "Status" }).getByRole("link", { name: /Trash/ }).click();
    await said.getByRole("button", { name: "Restore: Jory" }).click();
    await eventually("the comment is where it was", async () => (await statusOf(server, waiting.id)) === "spam");

    // By keys: the first of those that are approved gets an answer.
    await page.getByRole("navigation", { name: "Status" }).getByRole("link", { name: /Approved/ }).click();
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
};
