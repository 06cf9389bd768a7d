// Menus, under WordPress's names: made, filled, put in order by the pointer and by keys, and what the interface returns then.
import { assert, open, press, settled, stored } from "../steps.mjs";

const places = '[{ name = "primary", description = "At the top of each page" }, { name = "footer", description = "At the foot of each page" }]';

export const site = { demo: true, settings: ["site.prefix=wp", `resources.menu_locations.options.entries=${places}`] };

const menus = "/wp/v2/menus";
const items = "/wp/v2/menu-items";

/** Names and levels in the order that clients get. */
async function structure(server, menu) {
  const { body } = await server.ask("administrator", "GET", `${items}?menus=${menu}&per_page=100`);
  const above = new Map(body.map((item) => [item.id, item.parent]));
  const level = (id) => (above.get(id) ? 1 + level(above.get(id)) : 0);
  return body.map((item) => `${"> ".repeat(level(item.id))}${item.title.rendered}`);
}

export const walks = {
  async "a menu is made and put in order"({ server, meet }) {
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/menus");
    await page.getByRole("main").getByRole("link", { name: /^Add/ }).first().click();
    await page.getByRole("textbox", { name: /^Name \(/ }).fill("Main menu");
    await stored(page, () => press(page, "Create"), /saved|created/i);
    await page.waitForURL(/\/r\/menus\/\d+$/);
    const menu = Number(/\d+$/.exec(new URL(page.url()).pathname)[0]);
    await settled(page);

    // Records of the site, found by their names, and an address elsewhere.
    const find = page.getByRole("combobox", { name: "Search for something to add" });
    const handle = (name) => page.getByRole("button", { name: new RegExp(`^Move ${name}\\. `) });
    const row = (name) => page.getByRole("listitem").filter({ has: handle(name) });
    for (const name of ["About the museum", "Winter crossings", "Getting here", "Counting terns"]) {
      await find.fill(name);
      await page.getByRole("option", { name }).first().click();
      await handle(name).waitFor();
    }
    await page.getByRole("button", { name: "Add navigation menu item" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Title" }).fill("Tide tables");
    await dialog.getByRole("textbox", { name: "URL" }).fill("https://example.org/tides");
    await dialog.getByRole("button", { name: "Create" }).click();
    await handle("Tide tables").waitFor();
    await ada.accessible("a menu with items");
    const added = ["About the museum", "Winter crossings", "Getting here", "Counting terns", "Tide tables"];
    assert.deepEqual(await structure(server, menu), added);

    // By the pointer: into the middle of a row, and to its upper edge.
    const drag = async (name, target, share) => {
      const { width, height } = await row(target).boundingBox();
      await handle(name).dragTo(row(target), { targetPosition: { x: width / 2, y: height * share } });
    };
    await drag("Winter crossings", "About the museum", 0.5);
    await drag("Tide tables", "About the museum", 0.1);
    // By keys: under the one above, and then out again and up.
    await handle("Getting here").focus();
    await page.keyboard.press("ArrowRight");
    await handle("Counting terns").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowUp");
    const shown = () => page.getByRole("list", { name: "Main menu" }).getByRole("link").allTextContents();
    const wanted = ["Tide tables", "Counting terns", "About the museum", "> Winter crossings", "> Getting here"];
    assert.deepEqual((await shown()).map((name) => name.trim()), wanted.map((name) => name.replace("> ", "")));
    await handle("About the museum").waitFor();
    assert.deepEqual(await structure(server, menu), added, "an order is stored before somebody saves it");
    await stored(page, () => page.getByRole("button", { name: "Save the order" }).click());
    assert.deepEqual(await structure(server, menu), wanted);

    // As it was saved, in a new window; one item is taken out.
    await page.reload();
    await settled(page);
    await handle("Getting here").waitFor();
    assert.deepEqual((await shown()).map((name) => name.trim()), wanted.map((name) => name.replace("> ", "")));
    await row("Counting terns").getByRole("button", { name: "Remove Counting terns" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await handle("Counting terns").waitFor({ state: "detached" });
    assert.deepEqual(await structure(server, menu), wanted.filter((name) => name !== "Counting terns"));
  },

  async "a menu is put into the places that are declared"({ server, meet }) {
    const { body: { id } } = await server.ask("administrator", "POST", menus, { name: "Foot menu" });
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, `/r/menus/${id}`);
    const places = page.getByRole("group", { name: "Locations" });
    assert.deepEqual(await places.getByRole("checkbox").evaluateAll((boxes) => boxes.map((box) => box.checked)), [false, false]);
    await places.getByRole("checkbox", { name: "At the foot of each page" }).focus();
    await page.keyboard.press("Space");
    await ada.accessible("the places of a menu");
    await stored(page, () => press(page, "Save"));
    assert.deepEqual((await server.ask("administrator", "GET", `${menus}/${id}`)).body.locations, ["footer"]);
  },
};
