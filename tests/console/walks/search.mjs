// What search engines and social networks show of a record: in the form that an editor fills in, and on the page that readers get.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, eventually, open, png, stored } from "../steps.mjs";

export const site = {
  prepare(folder, program) {
    const told = join(folder, "told");
    execFileSync(program, ["init", told], { stdio: ["ignore", "ignore", "pipe"] });
    const routes = join(told, "routes.toml");
    const core = '"schemas/core/*.toml"';
    writeFileSync(routes, readFileSync(routes, "utf8").replace(core, `${core}, "schemas/profiles/seo.toml"`));
    writeFileSync(join(told, "site.toml"), '[settings]\ntitle = "Harbour Notes"\n');
    return routes;
  },
  roles: ["administrator", "editor"],
};

const posts = "/cms/v2/posts";
const CONTENT =
  "<!-- wp:heading --><h2>The boats</h2><!-- /wp:heading --><!-- wp:paragraph --><p>They come in at <a href=\"/\">six</a>.</p><!-- /wp:paragraph -->" +
  "<!-- wp:list --><ul><li>Cod</li></ul><!-- /wp:list --><!-- wp:table --><table><thead><tr><th>Day</th></tr></thead><tbody><tr><td>Monday</td></tr></tbody></table><!-- /wp:table -->";

const parts = (name, bytes) =>
  Buffer.concat([Buffer.from(`--XX\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`), bytes, Buffer.from("\r\n--XX--\r\n")]);

/** Opens what the form folds away. */
const unfold = (page) => page.evaluate(() => document.querySelectorAll("main details").forEach((details) => (details.open = true)));

export const walks = {
  async "an editor sees how long the texts are, how they are shown, and what to look at"({ server, meet }) {
    const send = (name, width, height) => server.send("editor", "POST", "/cms/v2/media", parts(name, png(width, height)), "multipart/form-data; boundary=XX");
    const picture = await send("boat.png", 320, 200);
    const wide = await send("wide.png", 1200, 630);
    assert.deepEqual([picture.status, wide.status], [201, 201]);
    const body = { title: "At six", slug: "at-six", status: "publish", content: "", featured_media: picture.body.id };
    const made = await server.ask("editor", "POST", posts, body);
    assert.equal(made.status, 201);
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, `/r/posts/${made.body.id}`);
    const panel = page.getByRole("group", { name: "Search engines", exact: true });
    await unfold(page);
    const result = panel.getByRole("group", { name: "As search engines show it" });
    const card = panel.getByRole("group", { name: "As social networks show it" });
    const warnings = panel.getByRole("list", { name: "To be looked at" });
    await result.getByText("At six – Harbour Notes").waitFor();
    await warnings.getByText("There is no description").waitFor();
    await warnings.getByText("320 × 200").waitFor();
    await panel.getByText("22 of 60 characters").waitFor();
    await panel.getByRole("textbox", { name: /^Title/ }).fill("{title} at the harbour of a very small town, and all of its boats together");
    await result.getByText("At six at the harbour").waitFor();
    await panel.getByText(/of 60 characters: it is cut/).waitFor();
    await panel.getByRole("textbox", { name: /^Description/ }).fill("What the boats bring in.");
    await card.getByText("What the boats bring in.").waitFor();
    await panel.getByRole("textbox", { name: /^Canonical/ }).fill("https://other.example/six/");
    await warnings.getByText("https://other.example/six/").waitFor();
    assert.equal(await warnings.getByText("There is no description").count(), 0);

    // A picture of its own comes from the library, and the card shows it at once.
    await panel.getByRole("group", { name: "Picture", exact: true }).getByRole("button", { name: "Choose" }).click();
    const library = page.getByRole("dialog");
    await library.getByText("wide").first().click();
    await library.getByRole("button", { name: /^Use/ }).click();
    await card.locator('img[src*="wide"]').waitFor();
    await warnings.getByText("320 × 200").waitFor({ state: "detached" });
    await erin.accessible("the panel for search engines");
    await page.emulateMedia({ colorScheme: "dark" });
    await erin.accessible("the panel for search engines, dark");
    await stored(page, () => page.keyboard.press("Control+s"));
    await eventually("it is stored", async () => {
      const { body } = await server.ask("editor", "GET", `${posts}/${made.body.id}?context=edit`);
      return body.seo_values.description === "What the boats bring in." && body.seo_values.picture === wide.body.id;
    });
  },

  async "the same in German, on a phone"({ server, meet }) {
    const made = await server.ask("editor", "POST", posts, { title: "Um sechs", status: "publish", content: "" });
    const erin = await meet({ locale: "de-DE", width: 390 });
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, `/r/posts/${made.body.id}`);
    await unfold(page);
    await page.getByRole("group", { name: "So zeigen es Suchmaschinen" }).getByText("Um sechs – Harbour Notes").waitFor();
    await page.getByText("Es gibt keine Beschreibung").waitFor();
    await erin.accessible("the panel in German");
  },

  async "readers get a plain page, light and dark"({ server, meet }) {
    await server.ask("editor", "POST", posts, { title: "Boats & nets", slug: "boats", status: "publish", date: "2024-05-06T07:08:09", content: CONTENT });
    for (const theme of ["light", "dark"]) {
      for (const width of [1280, 320]) {
        const reader = await meet({ theme, width });
        const { page } = reader;
        let bytes = 0;
        page.on("response", async (response) => {
          bytes += (await response.body().catch(() => "")).length;
        });
        await page.goto(`${server.origin}/2024/05/boats/`, { waitUntil: "networkidle" });
        await page.getByRole("heading", { level: 1, name: "Boats & nets" }).waitFor();
        await reader.accessible(`the page of a record, ${theme}, ${width} pixels wide`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false, "it is no wider than the window");
        // Data for search engines is no script.
        assert.equal(await page.locator('script:not([type="application/ld+json"])').count(), 0);
        assert.equal(JSON.parse(await page.locator("script").textContent())["@graph"][0]["@type"], "Article");
        assert.ok(bytes > 0 && bytes <= 10 * 1024, `${bytes} bytes`);
      }
    }
  },
};
