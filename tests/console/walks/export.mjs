// Every record of an export is opened and saved: without a change, and with a change beside its content, which stays as it was byte for byte.
// It is the theme unit export where that is there, else the fixtures.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { assert, open, press, stored } from "../steps.mjs";

const unit = ["../shared/data/themeunittestdata.wordpress.xml", "../../shared/data/themeunittestdata.wordpress.xml"].find((path) => existsSync(path));
const files = unit === undefined ? ["fixtures/demo.xml", "fixtures/import.xml"] : [unit];

export const site = {
  settings: ["site.prefix=wp"],
  imports: files,
};

/** All records of a resource, in every state. */
async function all(server, path) {
  const found = [];
  for (let page = 1; ; page++) {
    const { status, body } = await server.ask("administrator", "GET", `${path}?context=edit&per_page=100&page=${page}&status=publish,future,draft,pending,private`);
    if (status !== 200) return found;
    found.push(...body);
    if (body.length < 100) return found;
  }
}

/** What the record shows of itself has to be there: embeds and pictures of other sites are not asked for. */
const elsewhere = [/404 \(Not Found\)/];

async function kept({ server, meet }, name, path) {
  const records = await all(server, path);
  assert.ok(records.length > 0, `the export has no ${name}`);
  const ada = await meet({ expected: elsewhere });
  await ada.logIn("administrator");
  const { page } = ada;
  const changed = [];
  for (const [place, record] of records.entries()) {
    await open(ada, `/r/${name}/${record.id}`);
    await page.locator(".ProseMirror").first().waitFor();
    // Somebody clicks into the text and goes on.
    await page.locator(".ProseMirror").first().focus();
    await page.keyboard.press("ArrowDown");
    const excerpt = page.getByRole("textbox", { name: "Excerpt", exact: true });
    const beside = place % 2 === 0 && (await excerpt.count()) > 0;
    if (beside) await excerpt.fill(`Excerpt ${place}`);
    const button = page.getByRole("main").getByRole("button", { name: /^(Save|Save draft)$/ }).first();
    await stored(page, () => button.click(), beside ? /saved/i : /saved|nothing has changed/i);
    const { body: after } = await server.ask("administrator", "GET", `${path}/${record.id}?context=edit`);
    if (beside) assert.equal(after.excerpt.raw, `Excerpt ${place}`);
    if (after.content.raw !== record.content.raw) changed.push(`${record.id} ${record.title.raw}`);
  }
  console.log(`  ${records.length} records, ${records.reduce((sum, { content }) => sum + content.raw.length, 0)} characters`);
  assert.deepEqual(changed, [], "contents that are not as they were");
}

export const walks = {
  "every post of the export": (site) => kept(site, "posts", "/wp/v2/posts"),
  "every page of the export": (site) => kept(site, "pages", "/wp/v2/pages"),
};
