// Files: several at once, their texts, cutting, and their use in a text.
import { assert, choose, eventually, open, picture, png, press, stored, writing } from "../steps.mjs";

export const site = { roles: ["administrator", "editor"] };

const media = "/cms/v2/media";
const list = async (server) => (await server.ask("editor", "GET", `${media}?context=edit&per_page=50&orderby=id&order=asc`)).body;

export const walks = {
  async "several pictures are sent at once, described and cut"({ server, meet }) {
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, "/r/media");
    const chosen = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Upload" }).click();
    await (await chosen).setFiles([picture("north.png"), picture("east.png", 400, 300, [180, 40, 40]), picture("south.png", 300, 300), { name: "notes.exe", mimeType: "application/x-msdownload", buffer: Buffer.from("MZ") }]);
    const panel = page.getByRole("region", { name: "Uploads" });
    await panel.getByRole("alert").first().waitFor();
    await eventually("three files are there", async () => (await list(server)).length === 3);
    await page.getByRole("link", { name: "north", exact: true }).waitFor();
    await erin.accessible("the library while files are sent");
    await panel.getByRole("button", { name: "Close" }).click();

    await page.getByRole("link", { name: "north", exact: true }).click();
    const side = page.getByRole("complementary", { name: "north" });
    await side.getByRole("textbox", { name: "Alternative text" }).fill("The tower from the north");
    await side.getByRole("textbox", { name: "Caption" }).fill("Painted in May.");
    await side.getByRole("textbox", { name: "Caption" }).press("Tab");
    const north = (await list(server)).find(({ slug }) => slug.startsWith("north"));
    await eventually("the texts are stored", async () => {
      const { body } = await server.ask("editor", "GET", `${media}/${north.id}?context=edit`);
      return body.alt_text === "The tower from the north" && body.caption.raw === "Painted in May.";
    });

    await side.getByRole("button", { name: "Crop and turn" }).click();
    const dialog = page.getByRole("dialog", { name: /Crop and turn/ });
    await dialog.getByRole("button", { name: "Turn to the right" }).click();
    await dialog.getByText("Result: 400 × 600 pixels").first().waitFor();
    await dialog.getByRole("spinbutton", { name: "Width" }).fill("200");
    await dialog.getByRole("spinbutton", { name: "Width" }).press("Tab");
    await erin.accessible("cutting a picture");
    await dialog.getByRole("button", { name: "Save as a new file" }).click();
    const cut = await eventually("the cut picture is there", async () => (await list(server)).find(({ id, slug }) => id > north.id && slug.startsWith("north")));
    assert.equal(cut.media_details.width, 200);
    assert.ok(cut.media_details.height > 200, JSON.stringify(cut.media_details));
  },

  async "pictures come into a text by pasting, dropping and from the library"({ server, meet }) {
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, "/r/posts/new");
    await page.getByRole("textbox", { name: "Title", exact: true }).fill("With pictures");
    const before = (await list(server)).length;
    await writing(page).click();
    const give = (kind, name, bytes) => writing(page).evaluate((place, [type, file, data]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(data)], file, { type: "image/png" }));
      const box = place.getBoundingClientRect();
      const at = { bubbles: true, cancelable: true, clientX: box.left + 20, clientY: box.top + 20 };
      place.dispatchEvent(type === "paste" ? new ClipboardEvent("paste", { clipboardData: transfer, ...at }) : new DragEvent("drop", { dataTransfer: transfer, ...at }));
    }, [kind, name, [...bytes]]);
    await give("paste", "pasted.png", png(120, 80));
    await eventually("the pasted picture is stored", async () => (await list(server)).length === before + 1);
    await writing(page).locator("img[src*='pasted']").waitFor();
    await give("drop", "dropped.png", png(130, 80));
    await eventually("the dropped picture is stored", async () => (await list(server)).length === before + 2);
    await writing(page).locator("img[src*='dropped']").waitFor();
    await stored(page, () => press(page, "Save draft"));
    const id = Number(/\/(\d+)$/.exec(new URL(page.url()).pathname)[1]);
    const { body } = await server.ask("editor", "GET", `/cms/v2/posts/${id}?context=edit`);
    for (const name of ["pasted", "dropped"]) {
      const { id: file } = (await list(server)).find(({ slug }) => slug.startsWith(name));
      assert.match(body.content.raw, new RegExp(`wp:image \\{"id":${file}[^}]*\\} -->\\n<figure class="wp-block-image[^"]*"><img src="[^"]*${name}[^"]*" alt=""[^>]*class="wp-image-${file}"`));
    }

    // The featured picture comes from the library.
    await page.getByRole("group", { name: "Featured image" }).getByRole("button", { name: "Choose" }).click();
    const library = page.getByRole("dialog");
    await library.getByText("dropped").first().click();
    await erin.accessible("the library in a dialog");
    await library.getByRole("button", { name: /^Use/ }).click();
    await stored(page, () => press(page, "Save draft"));
    const after = await server.ask("editor", "GET", `/cms/v2/posts/${id}?context=edit`);
    assert.equal(after.body.featured_media, (await list(server)).find(({ slug }) => slug.startsWith("dropped")).id);

    // A text from elsewhere has other addresses of the same picture, and names it by its id.
    const shown = after.body.featured_media;
    const texts = [`<img class="wp-image-${shown}" src="https://example.org/copy.png" alt="">`, `<!-- wp:media-text {"mediaId":${shown}} -->\n<div></div>\n<!-- /wp:media-text -->`, `<img class="wp-image-${shown}0" alt="">`];
    for (const [place, content] of texts.entries()) await server.ask("editor", "POST", "/cms/v2/posts", { title: `By its id ${place}`, content, status: "draft" });
    await open(erin, `/r/media?file=${shown}`);
    const side = page.getByRole("complementary");
    await side.getByText("Where it is used").click();
    await side.getByRole("link", { name: "With pictures" }).first().waitFor();
    const found = (await side.getByRole("list").last().getByRole("link").allTextContents()).sort();
    assert.deepEqual(found, ["By its id 0", "By its id 1", "With pictures", "With pictures"]);
  },

  async "a file is replaced under its address"({ server, meet }) {
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, "/r/media");
    const send = async (name, file) => {
      const chosen = page.waitForEvent("filechooser");
      await page.getByRole("button", { name, exact: true }).click();
      await (await chosen).setFiles([file]);
    };
    await send("Upload", picture("quay.png", 600, 400));
    const old = await eventually("the file is there", async () => (await list(server)).find(({ slug }) => slug === "quay"));
    await open(erin, `/r/media?file=${old.id}`);
    const side = page.getByRole("complementary", { name: "quay" });
    await side.getByText("600 × 400 pixels").waitFor();
    // Another type is refused before it is sent.
    await send("Replace the file", { name: "quay.gif", mimeType: "image/gif", buffer: Buffer.from("GIF89a") });
    await page.getByRole("region", { name: "Messages" }).getByRole("alert").filter({ hasText: "quay.gif" }).getByRole("button", { name: "Dismiss" }).click();
    await send("Replace the file", picture("newer.png", 300, 500, [180, 40, 40]));
    const question = page.getByRole("dialog", { name: "Replace “quay” by newer.png?" });
    await erin.accessible("the question before a file is replaced");
    await question.getByRole("button", { name: "Replace the file" }).click();
    await side.getByText("300 × 500 pixels").waitFor();
    const { body } = await server.ask("editor", "GET", `${media}/${old.id}?context=edit`);
    assert.deepEqual([body.source_url, body.title.raw, body.media_details.width], [old.source_url, "quay", 300]);
    // This page and the next one show the new picture, although the browser may keep files.
    const height = () => side.locator("img").first().evaluate((image) => image.decode().then(() => image.naturalHeight / image.naturalWidth));
    await eventually("the new picture is shown", async () => (await height()) > 1);
    await open(erin, `/r/media?file=${old.id}`);
    await eventually("the new picture is shown after a reload", async () => (await height()) > 1);
  },

  async "files are filed in folders, and the library is filtered by them"({ server, meet }) {
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    const { body: folder } = await server.ask("editor", "POST", "/cms/v2/media_folders", { name: "Harbour" });
    await open(erin, "/r/media?layout=table");
    await page.locator("[data-row] input[type=checkbox]").first().check();
    await choose(page, page.getByRole("region", { name: "Selected items" }).getByRole("button", { name: "Change" }), "Folders");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "Folders" }).fill("Harb");
    await page.getByRole("option", { name: "Harbour" }).click();
    await page.keyboard.press("Tab");
    await dialog.getByRole("button", { name: "Add to each" }).click();
    await eventually("the file is in the folder", async () => (await server.ask("editor", "GET", `${media}?media_folders=${folder.id}`)).body.length === 1);
    await open(erin, `/r/media?f=media_folders~any~${folder.id}`);
    await page.getByText(/^1 item$/).first().waitFor();
    await erin.accessible("the library of a folder");
  },
};
