// Everything by keys alone: nothing here uses a pointer, but to look.
import { assert, eventually, heading, open, settled } from "../steps.mjs";
import { PASSWORD } from "../server.mjs";

export const site = { demo: true, roles: ["administrator"] };

const posts = "/cms/v2/posts";

/** Presses Tab until something has the focus, as somebody would who looks for it. */
async function tabTo(page, wanted, most = 60) {
  for (let step = 0; step < most; step++) {
    if (await wanted.evaluate((one) => one === document.activeElement || one.contains(document.activeElement)).catch(() => false)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`not reached with ${most} times Tab: ${wanted}`);
}

const focused = (page) => page.evaluate(() => {
  const one = document.activeElement;
  return `${one?.tagName} ${one?.getAttribute("aria-label") ?? one?.textContent?.slice(0, 40)}`;
});

export const walks = {
  async "logging in, a list, a selection, a form"({ server, meet }) {
    const ada = await meet();
    const { page } = ada;
    await page.goto(`${ada.origin}/admin/r/posts`);
    await tabTo(page, page.getByLabel(/login|user/i).first());
    await page.keyboard.type("administrator");
    await tabTo(page, page.getByLabel(/^password/i).first());
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/admin\/r\/posts/);
    await page.reload();
    await settled(page);
    // The first stop leads past the navigation.
    await page.keyboard.press("Tab");
    await page.waitForFunction(() => document.activeElement?.matches("a.skip"));
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "main");

    await page.keyboard.press("j");
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-row") === "0");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("x");
    await page.keyboard.press("Shift+ArrowDown");
    const bulk = page.getByRole("region", { name: "Selected items" });
    await bulk.getByText("2 selected").waitFor();
    await tabTo(page, bulk.getByRole("button", { name: "Set the status" }), 120);
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Pending review" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "hidden" });
    assert.match(await focused(page), /Set the status/, "the focus returns to the button of the menu");
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Pending review" }).waitFor();
    await page.waitForFunction(() => document.activeElement?.closest("[role=menu]") !== null);
    await page.keyboard.type("Pend");
    await page.waitForFunction(() => document.querySelector("[role=menuitem][data-highlighted]")?.textContent === "Pending review");
    await page.keyboard.press("Enter");
    await eventually("two records wait", async () => (await server.ask("administrator", "GET", `${posts}?status=pending`)).body.length === 2);

    await page.keyboard.press("/");
    await page.waitForFunction(() => document.activeElement?.matches("input[type=search]"));
    await page.keyboard.type("Counting terns");
    await page.waitForFunction(() => document.querySelector('[data-row="0"]')?.textContent?.includes("Counting terns"));
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await heading(page, "Counting terns").waitFor();
    await tabTo(page, page.getByRole("textbox", { name: "Title", exact: true }), 40);
    await page.keyboard.press("End");
    await page.keyboard.type(" again");
    await page.keyboard.press("Control+s");
    await eventually("the title is stored", async () => (await server.ask("administrator", "GET", `${posts}?search=terns`)).body.some((one) => /terns again/.test(one.title.rendered)));
  },

  async "the palette, menus, dialogs and the editor's toolbar"({ meet }) {
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await settled(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Find or do something" }).waitFor();
    await ada.accessible("the palette");
    await page.keyboard.type("limewash");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("new coat");
    await page.getByRole("option", { name: /A new coat of white/ }).waitFor();
    await page.waitForFunction(() => document.querySelector('[role="option"][aria-selected="true"]')?.textContent?.includes("A new coat of white"));
    await page.keyboard.press("Enter");
    await heading(page, "A new coat of white").waitFor();

    await settled(page);
    const text = page.getByRole("textbox", { name: "Content" });
    await tabTo(page, text);
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Alt+F10");
    const bar = page.getByRole("toolbar", { name: "Formatting" });
    await page.waitForFunction(() => document.activeElement?.closest("[role=toolbar]") !== null);
    for (let step = 0; step < 30 && !/Source/.test(await focused(page)); step++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: /Content: Source/ }).waitFor();
    await bar.getByRole("button", { name: "Source", pressed: true }).waitFor();
    await ada.accessible("the source of a content");
    await page.keyboard.press("Shift+Tab");
    for (let step = 0; step < 5 && !/Source/.test(await focused(page)); step++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await text.waitFor();

    await text.focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.press("Enter");
    await page.keyboard.type("/tab");
    await page.getByRole("option", { name: "Table" }).first().waitFor();
    await ada.accessible("the list of blocks");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    if (await dialog.isVisible()) {
      await ada.accessible("the dialog of a table");
      await page.keyboard.press("Enter");
    }
    await page.getByRole("table").or(text.locator("table")).first().waitFor();
    await page.keyboard.press("Alt+F10");
    await page.waitForFunction(() => document.activeElement?.closest("[role=toolbar]") !== null);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement?.classList.contains("ProseMirror"));

    page.once("dialog", (question) => void question.accept());
    await open(ada, "/r/posts");
    await page.getByRole("button", { name: "View", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("[popover]:popover-open, dialog[open], .popup, details[open]") !== null);
    await ada.accessible("the options of a list");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("[popover]:popover-open, dialog[open], .popup") === null);
    assert.match(await focused(page), /View/, "the focus returns to the button of the options");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await ada.accessible("the list of keys");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  },
};
