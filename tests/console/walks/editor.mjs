// Somebody writes: draft, search, publish, schedule, revise, restore, trash; and what each role may.
import { assert, choose, eventually, heading, open, press, publish, settled, stored, writing } from "../steps.mjs";

export const site = { roles: ["administrator", "editor", "author", "contributor", "subscriber"] };

const posts = "/cms/v2/posts";
const read = async (server, id) => (await server.ask("administrator", "GET", `${posts}/${id}?context=edit`)).body;
const title = (page) => page.getByRole("textbox", { name: "Title", exact: true });
const tool = (page, name) => page.getByRole("toolbar", { name: "Formatting" }).getByRole("button", { name, exact: true });

/** The id in the address of the record that is open. */
const idOf = (page) => Number(/\/(\d+)$/.exec(new URL(page.url()).pathname)?.[1]);

export const walks = {
  async "an editor writes, finds and publishes"({ server, meet }) {
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await page.getByRole("link", { name: "Add post" }).click();
    await title(page).fill("The lamp is lit again");
    await writing(page).click();
    await page.keyboard.type("After forty years the lamp turns.");
    await page.keyboard.press("Enter");
    await page.keyboard.type("## What was done");
    await page.keyboard.press("Enter");
    await page.keyboard.type("- Brass was polished");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Glass was ");
    await page.keyboard.press("Control+b");
    await page.keyboard.type("cleaned");
    await page.keyboard.press("Control+b");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.keyboard.type("See the log");
    await page.keyboard.press("Control+Shift+ArrowLeft");
    await page.keyboard.press("Control+k");
    const link = page.getByRole("dialog");
    await link.getByRole("combobox").or(link.getByRole("textbox")).first().fill("https://example.org/log");
    await link.getByRole("button", { name: "Apply" }).click();
    await erin.accessible("the editor with a text");
    await stored(page, () => press(page, "Save draft"));
    await page.waitForURL(/\/r\/posts\/\d+$/);
    const id = idOf(page);
    const draft = await read(server, id);
    assert.equal(draft.status, "draft");
    assert.equal(draft.title.raw, "The lamp is lit again");
    assert.equal(draft.content.raw, [
      "<!-- wp:paragraph -->", "<p>After forty years the lamp turns.</p>", "<!-- /wp:paragraph -->", "",
      "<!-- wp:heading -->", "<h2 class=\"wp-block-heading\">What was done</h2>", "<!-- /wp:heading -->", "",
      "<!-- wp:list -->",
      "<ul class=\"wp-block-list\"><!-- wp:list-item -->", "<li>Brass was polished</li>", "<!-- /wp:list-item -->", "",
      "<!-- wp:list-item -->", "<li>Glass was <strong>cleaned</strong></li>", "<!-- /wp:list-item --></ul>", "<!-- /wp:list -->", "",
      "<!-- wp:paragraph -->", "<p>See the <a href=\"https://example.org/log\">log</a></p>", "<!-- /wp:paragraph -->",
    ].join("\n"));

    await page.getByRole("navigation", { name: "Path" }).getByRole("link", { name: "Posts" }).click();
    await page.getByRole("searchbox", { name: "Search posts" }).fill("lamp");
    await page.getByRole("link", { name: "The lamp is lit again" }).click();
    await heading(page, "The lamp is lit again").waitFor();
    await stored(page, () => publish(page));
    const open = await server.ask(null, "GET", `${posts}/${id}`);
    assert.equal(open.status, 200);
    assert.match(open.body.content.rendered, /<li>Glass was <strong>cleaned<\/strong><\/li>/);
  },

  async "an editor schedules, revises twice and brings a version back"({ server, meet }) {
    const { body: { id } } = await server.ask("editor", "POST", posts, { title: "Tides", content: "<!-- wp:paragraph -->\n<p>One.</p>\n<!-- /wp:paragraph -->", status: "publish" });
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    for (const words of [" Two.", " Three."]) {
      await open(erin, `/r/posts/${id}`);
      await writing(page).locator("p").first().click();
      await page.keyboard.press("End");
      await page.keyboard.type(words);
      await stored(page, () => press(page, "Save"));
    }
    assert.match((await read(server, id)).content.raw, /<p>One\. Two\. Three\.<\/p>/);
    await choose(page, page.getByRole("button", { name: "More actions" }), "Revisions");
    await settled(page);
    await erin.accessible("the versions");
    // The newest comes first; the one before it is compared with what is there, and brought back.
    await page.getByRole("navigation", { name: "Revisions" }).getByRole("button").nth(1).click();
    await page.getByRole("combobox", { name: "Compare with" }).selectOption({ label: "Current version" });
    await page.getByRole("deletion").filter({ hasText: "Three." }).waitFor();
    await page.getByRole("button", { name: "Restore this revision" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /Bring|Restore/ }).click();
    await eventually("the version is back", async () => /<p>One\. Two\.<\/p>/.test((await read(server, id)).content.raw));

    await page.goto(`${erin.origin}/admin/r/posts/new`);
    await title(page).fill("Spring tide");
    await page.getByLabel("Date", { exact: true }).fill("2031-03-21T08:30");
    await stored(page, () => publish(page, "Schedule…"));
    await page.waitForURL(/\/r\/posts\/\d+$/);
    const scheduled = await read(server, idOf(page));
    assert.equal(scheduled.status, "future");
    assert.equal(scheduled.date, "2031-03-21T08:30:00");

    await choose(page, page.getByRole("button", { name: "More actions" }), "Move to trash");
    await heading(page, "Posts").waitFor();
    await eventually("the record is in the trash", async () => (await read(server, scheduled.id)).status === "trash");
    await page.getByRole("navigation", { name: "Status" }).getByRole("link", { name: /Trash/ }).click();
    await choose(page, page.getByRole("button", { name: "Actions for “Spring tide”" }), "Restore");
    await eventually("the record is a draft", async () => (await read(server, scheduled.id)).status === "draft");
  },

  async "an editor folds a text away, and chooses colours and a width"({ server, meet }) {
    const paragraphs = Array.from({ length: 40 }, (_, place) => `<!-- wp:paragraph -->\n<p>Line ${place}</p>\n<!-- /wp:paragraph -->`).join("\n\n");
    const columns = "<!-- wp:columns -->\n<div class=\"wp-block-columns\"><!-- wp:column -->\n<div class=\"wp-block-column\"><!-- wp:paragraph -->\n<p>Left</p>\n<!-- /wp:paragraph --></div>\n<!-- /wp:column --></div>\n<!-- /wp:columns -->";
    const { body: { id } } = await server.ask("editor", "POST", posts, { title: "Opening hours", content: `${columns}\n\n${paragraphs}`, status: "draft" });
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, `/r/posts/${id}`);
    await writing(page).getByText("Left").click();
    await tool(page, "Block settings").click();
    const look = page.getByRole("dialog", { name: "Block settings" });
    const column = look.getByRole("group", { name: "Column", exact: true });
    await column.getByRole("spinbutton", { name: "Width in percent" }).fill("40");
    await column.getByRole("combobox", { name: "Background colour" }).selectOption({ label: "Custom colour" });
    await column.getByLabel("Pick a colour: Background colour").fill("#ffeecc");
    await erin.accessible("the look of a block");
    await page.keyboard.press("Escape");
    await look.waitFor({ state: "detached" });

    await writing(page).getByText("Line 39").click();
    // The bars at the top do not lie over each other.
    const [head, bar] = [await page.locator(".page-head").boundingBox(), await page.getByRole("toolbar", { name: "Formatting" }).boundingBox()];
    assert.ok(bar.y >= head.y + head.height - 1, `the toolbar begins at ${bar.y}, the head of the page ends at ${head.y + head.height}`);
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.keyboard.type("/details");
    await page.getByRole("option", { name: "Details" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.type("Who may come?");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Everybody.");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Behind it.");
    await stored(page, () => press(page, "Save draft"));
    const { raw } = (await read(server, id)).content;
    assert.equal(raw, [
      columns
        .replace("wp:column -->", 'wp:column {"width":"40%","style":{"color":{"background":"#ffeecc"}}} -->')
        .replace('<div class="wp-block-column">', '<div class="wp-block-column has-background" style="flex-basis:40%;background-color:#ffeecc">'),
      paragraphs,
      '<!-- wp:details -->\n<details class="wp-block-details"><summary>Who may come?</summary><!-- wp:paragraph -->\n<p>Everybody.</p>\n<!-- /wp:paragraph --></details>\n<!-- /wp:details -->',
      "<!-- wp:paragraph -->\n<p>Behind it.</p>\n<!-- /wp:paragraph -->",
    ].join("\n\n"));
  },

  async "an author publishes their own, and only that"({ server, meet }) {
    const { body: { id: others } } = await server.ask("editor", "POST", posts, { title: "Not theirs", status: "publish", content: "x" });
    const ann = await meet();
    await ann.logIn("author");
    const { page } = ann;
    await open(ann, "/r/posts/new");
    await title(page).fill("From the boat");
    await stored(page, () => publish(page));
    await page.waitForURL(/\/r\/posts\/\d+$/);
    assert.equal((await read(server, idOf(page))).status, "publish");
    ann.excuse(/403 \(Forbidden\)/);
    await open(ann, `/r/posts/${others}`);
    await page.getByText("You may read this record, but not change it.").or(page.getByText("That did not work.")).first().waitFor();
    assert.equal(await page.getByRole("main").getByRole("button", { name: "Save", exact: true }).count(), 0);
    assert.equal(await page.getByRole("navigation", { name: "Main navigation" }).getByRole("link", { name: "Settings" }).count(), 0);
  },

  async "a contributor submits for review, and may not publish"({ server, meet }) {
    const cora = await meet();
    await cora.logIn("contributor");
    const { page } = cora;
    await open(cora, "/r/posts/new");
    await title(page).fill("A first try");
    await writing(page).click();
    await page.keyboard.type("Please read this.");
    assert.equal(await page.getByRole("button", { name: "Publish", exact: true }).count(), 0);
    await cora.accessible("what a contributor sees");
    await stored(page, () => press(page, "Submit for review"));
    await page.waitForURL(/\/r\/posts\/\d+$/);
    const made = await read(server, idOf(page));
    assert.equal(made.status, "pending");
    assert.match(made.content.raw, /Please read this\./);
    // It waits on the first screen of those who may publish.
    const erin = await meet();
    await erin.logIn("editor");
    await erin.page.getByRole("region", { name: "To review" }).getByRole("link", { name: /Pending/ }).click();
    await erin.page.getByRole("link", { name: "A first try" }).click();
    await stored(erin.page, () => publish(erin.page));
    assert.equal((await read(server, made.id)).status, "publish");
  },

  async "a subscriber is led to their profile"({ meet }) {
    const sam = await meet();
    const { page } = sam;
    await page.goto(`${sam.origin}/login`);
    await page.getByLabel(/login|user/i).first().fill("subscriber");
    await page.getByLabel(/^password/i).first().fill("a long enough password");
    await page.getByRole("button", { name: /log in/i }).click();
    await page.waitForURL(/profile/);
    await page.goto(`${sam.origin}/admin/`);
    await settled(page);
    const links = await page.getByRole("main").getByRole("link", { name: /^Add / }).count();
    assert.equal(links, 0, "a subscriber can create nothing");
  },
};
