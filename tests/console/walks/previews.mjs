// What is being written, in a front end: in a new tab, in a pane beside the form, in place of the form on a phone.
import { assert, eventually, open, press, publish, stored } from "../steps.mjs";
import { startFront } from "../front.mjs";

const front = await startFront();

export const site = {
  roles: ["administrator", "editor", "author"],
  settings: [`site.front.url=${front.origin}`, `site.front.preview=${front.origin}/preview?token={token}&path={path}&type={type}&id={id}`],
};

const posts = "/cms/v2/posts";
const title = (page) => page.getByRole("textbox", { name: "Title", exact: true });
const pane = (page) => page.getByRole("region", { name: "Live preview" });
const inPane = (page) => pane(page).frameLocator("iframe");
const live = (page) => page.getByRole("button", { name: "Live preview" });
const told = (frame) => frame.evaluate(() => window.told);
const pages = (server) => {
  front.cms = server.origin;
  front.says = null;
  return { elsewhere: [front.origin] };
};
const paneFrame = (page) => page.frames().find((frame) => frame.url().startsWith(front.origin));

/** Presses "Preview", and waits for what the new tab shows. */
async function previewed(page, words) {
  const [tab] = await Promise.all([page.waitForEvent("popup"), page.getByRole("button", { name: "Preview", exact: true }).click()]);
  await tab.getByRole("heading", { name: words }).waitFor();
  return tab;
}

export const walks = {
  async "an editor changes a published post, and sees it in a new tab before readers do"({ server, meet }) {
    const erin = await meet(pages(server));
    const { body: { id } } = await server.ask("editor", "POST", posts, { title: "Low tide", status: "publish" });
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, `/r/posts/${id}`);
    await title(page).fill("Low tide at seven");
    const tab = await previewed(page, "Low tide at seven");
    // The token is in the address; the tab has no hold of the console.
    const address = new URL(tab.url());
    assert.equal(address.origin, front.origin);
    assert.equal(address.searchParams.get("id"), String(id));
    assert.match(address.searchParams.get("path"), /low-tide/);
    assert.match(address.searchParams.get("token"), /^[\w-]{10,}\.[\w-]{10,}$/);
    assert.equal(await tab.evaluate(() => window.opener), null);
    assert.equal(await tab.evaluate(() => document.referrer), "");
    assert.equal((await server.ask(null, "GET", `${posts}/${id}`)).body.title.rendered, "Low tide");

    // A save is told to the tab, for its origin alone, and so is an autosave.
    await stored(page, () => press(page, "Save"));
    await eventually("the tab is told", async () => (await told(tab)).length >= 1);
    assert.deepEqual((await told(tab)).at(-1), { origin: server.origin, data: { type: "cms-server:changed", id } });
    assert.equal((await server.ask(null, "GET", `${posts}/${id}`)).body.title.rendered, "Low tide at seven");

    // Each press makes a link of its own, and what is typed since is in it.
    await title(page).fill("Low tide at eight");
    const other = await previewed(page, "Low tide at eight");
    assert.notEqual(new URL(other.url()).searchParams.get("token"), address.searchParams.get("token"));
    const before = (await told(other)).length;
    // Where the form is left and opened again, the newest tab is still told.
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("navigation", { name: "Path" }).getByRole("link", { name: "Posts" }).click();
    await page.getByRole("link", { name: "Low tide at seven", exact: true }).click();
    await title(page).fill("Low tide at nine");
    await stored(page, () => press(page, "Save"));
    await eventually("the newest tab is told", async () => (await told(other)).length > before);
    // A change that was taken back is not shown any more.
    await title(page).fill("Low tide at ten");
    await previewed(page, "Low tide at ten");
    await title(page).fill("Low tide at nine");
    await previewed(page, "Low tide at nine");
  },

  async "an author writes a draft beside its preview"({ server, meet }) {
    const ada = await meet({ ...pages(server), width: 1440 });
    const { body: { id } } = await server.ask("author", "POST", posts, { title: "Harbour", status: "draft" });
    await ada.logIn("author");
    const { page } = ada;
    await open(ada, `/r/posts/${id}`);
    await title(page).fill("Harbour lights");
    assert.equal(await live(page).getAttribute("aria-expanded"), "false");
    await live(page).click();
    // What was typed before is there, and what is typed then follows.
    await inPane(page).getByRole("heading", { name: "Harbour lights" }).waitFor();
    assert.equal(await live(page).getAttribute("aria-expanded"), "true");
    const shown = front.shown;
    for (const words of ["Harbour lights, again", "Harbour lights, at last"]) {
      await title(page).fill(words);
      await inPane(page).getByRole("heading", { name: words, exact: true }).waitFor();
    }
    assert.ok(front.shown >= shown + 2, "the pane was not loaded again");
    await ada.accessible("the form beside its preview");

    // As wide as a phone, then as a desk, which is made smaller.
    const width = () => paneFrame(page).evaluate(() => innerWidth);
    assert.equal(await width(), 390);
    const widths = pane(page).getByRole("group", { name: "Width of the preview" });
    await widths.getByRole("button", { name: "Desktop" }).click();
    await eventually("the page is wide", async () => (await width()) === 1280);
    const [place, frame] = [await pane(page).boundingBox(), await pane(page).locator("iframe").boundingBox()];
    assert.ok(frame.x >= place.x && frame.x + frame.width <= place.x + place.width + 1, "the page does not fit into the pane");
    // The autosave of an own draft is the draft itself.
    await page.getByText(/^Saved at/).waitFor();
    await stored(page, () => press(page, "Save draft"), /nothing has changed/i);
    await title(page).fill("Harbour lights in fog");
    await stored(page, () => publish(page));
    await inPane(page).getByRole("heading", { name: "Harbour lights in fog" }).waitFor();

    // By keys alone; the focus comes back.
    await pane(page).getByRole("button", { name: "Close the preview" }).focus();
    await page.keyboard.press("Enter");
    await pane(page).waitFor({ state: "detached" });
    assert.equal(await live(page).evaluate((button) => button === document.activeElement), true);
    await page.keyboard.press("Enter");
    await eventually("the width is remembered", async () => paneFrame(page) !== undefined && (await width()) === 1280);
  },

  async "a front end that reads changes by itself is not loaded again"({ server, meet }) {
    const erin = await meet({ ...pages(server), width: 1440 });
    front.says = "cms-server:refreshes";
    const { body: { id } } = await server.ask("editor", "POST", posts, { title: "Buoys", status: "publish" });
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, `/r/posts/${id}`);
    await live(page).click();
    await inPane(page).getByRole("heading", { name: "Buoys" }).waitFor();
    const shown = front.shown;
    await title(page).fill("Buoys and bells");
    await inPane(page).getByRole("heading", { name: "Buoys and bells" }).waitFor();
    assert.equal(front.shown, shown);
    assert.deepEqual(await told(paneFrame(page)), [{ origin: server.origin, data: { type: "cms-server:changed", id } }]);
    // Whoever wants it loads it again.
    await pane(page).getByRole("button", { name: "Load the preview again" }).click();
    await eventually("the pane was loaded again", async () => front.shown === shown + 1);
  },

  async "on a phone the preview stands instead of the form"({ server, meet }) {
    const ada = await meet({ ...pages(server), width: 390, theme: "dark", locale: "de-DE" });
    const { body: { id } } = await server.ask("administrator", "POST", posts, { title: "Nebel", status: "draft" });
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, `/r/posts/${id}`);
    const field = page.getByRole("textbox", { name: "Titel", exact: true });
    await field.fill("Nebel am Morgen");
    await page.getByRole("button", { name: "Live-Vorschau" }).click();
    const shown = page.getByRole("region", { name: "Live-Vorschau" });
    await shown.frameLocator("iframe").getByRole("heading", { name: "Nebel am Morgen" }).waitFor();
    assert.equal(await field.isVisible(), false);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "the page is wider than the phone");
    await ada.accessible("the preview on a phone");
    await shown.getByRole("button", { name: "Vorschau schließen" }).click();
    await field.waitFor();
    assert.equal(await field.inputValue(), "Nebel am Morgen");
  },
};
