// Every screen of what the server describes: at two widths and in two themes, right to left and in German.
import { assert, open, settled } from "../steps.mjs";

export const site = { demo: true };

/** Addresses of every screen that an administrator has. */
export async function screens(server) {
  const { body: description } = await server.ask("administrator", "GET", "/console/v1/description");
  const found = ["/", "/declarations", "/nothing/here"];
  for (const resource of description.resources) {
    const { list, get, create, revisions } = resource.operations;
    if (resource.parent !== null || resource.group === "") continue;
    found.push(`/r/${resource.name}`);
    if (resource.key === null) continue;
    if (create !== undefined && !create.file) found.push(`/r/${resource.name}/new`);
    const { body } = list === undefined ? { body: [] } : await server.ask("administrator", "GET", `${list.path}?per_page=1`);
    const first = Array.isArray(body) ? body[0]?.[resource.key] : undefined;
    if (first === undefined || get === undefined) continue;
    found.push(`/r/${resource.name}/${encodeURIComponent(first)}`);
    if (revisions !== undefined) found.push(`/r/${resource.name}/${first}/revisions`);
  }
  return found;
}

const narrow = { width: 390, height: 844 };
const wide = { width: 1280, height: 800 };

/** Nothing sticks out at the side. */
async function fits(page, where) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${where} is ${over} pixels wider than the window`);
}

const texts = (page) => page.evaluate(() => document.body.innerText);

async function all(person, paths, look) {
  const wrong = [];
  for (const path of paths) {
    try {
      await open(person, path);
      await look(person.page, path);
    } catch (error) {
      wrong.push(`${path}: ${error.message}`);
    }
  }
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}

export const walks = {
  // A phone in light shows the colours of a desk in light.
  async "every screen on a desk and on a phone, light and dark"({ server, meet }) {
    const ada = await meet({ ...wide, expected: [/404 .*\/admin\/nothing/] });
    await ada.logIn("administrator");
    await all(ada, await screens(server), async (page, path) => {
      for (const [size, colorScheme] of [[wide, "light"], [narrow, "dark"]]) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme });
        await ada.accessible(`${path} (${size.width}, ${colorScheme})`);
        await fits(page, path);
      }
      await page.setViewportSize(wide);
      await ada.accessible(`${path} (${wide.width}, dark)`, { only: ["color-contrast"] });
      await page.emulateMedia({ colorScheme: "light" });
    });
  },
  async "every screen from right to left and in German"({ server, meet }) {
    const ada = await meet({ ...narrow, locale: "de-DE" });
    await ada.logIn("administrator");
    const { page } = ada;
    await all(ada, await screens(server), async (_, path) => {
      assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
      const shown = await texts(page);
      assert.doesNotMatch(shown, /\b(shell|lists|forms|files|editor|ui|dashboard)\.[a-z_]+\b|\{[a-z]+\}|undefined|\[object/);
      await page.evaluate(() => (document.documentElement.dir = "rtl"));
      for (const size of [narrow, wide]) {
        await page.setViewportSize(size);
        await fits(page, `${path} (${size.width}, right to left)`);
      }
      // Colours are those of the other direction, which have been looked at.
      await ada.accessible(`${path} (right to left)`, { without: ["color-contrast"] });
      await page.setViewportSize(narrow);
    });
  },
};
