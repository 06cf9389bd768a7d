// Trees: moved by keys and by the pointer; a large one is read branch by branch.
import { assert, eventually, open, press, settled, stored } from "../steps.mjs";

const categories = "/cms/v2/categories";
const pages = "/cms/v2/pages";

export const site = { demo: true, roles: ["administrator", "editor"] };

const titled = (page, name) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
const find = async (server, base, search) => (await server.ask("administrator", "GET", `${base}?search=${encodeURIComponent(search)}`)).body[0];
const parentOf = async (server, base, id) => (await server.ask("administrator", "GET", `${base}/${id}`)).body.parent;

/** Drags a row to a place in another one: 0 is its upper edge, 1 its lower one. */
async function drag(page, name, target, share) {
  const { width, height } = await titled(page, target).boundingBox();
  await titled(page, name).dragTo(titled(page, target), { sourcePosition: { x: width / 2, y: height / 2 }, targetPosition: { x: width / 2, y: height * share } });
}

/** Lines that an import takes. */
const LINES = 1000;

/** The site with some thousand categories: `roots` at the top, each with as many below it. */
async function planted(server, roots, below) {
  const send = async (all) => {
    const made = [];
    for (let start = 0; start < all.length; start += LINES) {
      const lines = all.slice(start, start + LINES).map((one) => JSON.stringify(one)).join("\n");
      const { status, body } = await server.send("administrator", "POST", `${categories}/import`, lines, "application/x-ndjson");
      assert.ok(status < 300, JSON.stringify(body).slice(0, 300));
      made.push(...body);
    }
    return made;
  };
  const number = (value, digits) => String(value).padStart(digits, "0");
  const branches = await send(Array.from({ length: roots }, (_, at) => ({ name: `Branch ${number(at, 3)}` })));
  await send(branches.flatMap((root, at) => Array.from({ length: below }, (_, leaf) => ({ name: `Leaf ${number(at, 3)}-${number(leaf, 3)}`, parent: root.id }))));
}

export const walks = {
  async "categories are moved below others, by keys and by the pointer"({ server, meet }) {
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/categories");
    const news = await find(server, categories, "News");
    const island = await find(server, categories, "Island life");
    await titled(page, "News").focus();
    await page.keyboard.press("Alt+ArrowRight");
    await eventually("the category is below the one before it", async () => (await parentOf(server, categories, news.id)) === island.id);
    await ada.accessible("the tree of categories");
    await titled(page, "News").focus();
    await page.keyboard.press("Alt+ArrowLeft");
    await eventually("the category is at the top", async () => (await parentOf(server, categories, news.id)) === 0);

    await eventually("the tree shows it", async () => (await titled(page, "News").getAttribute("aria-level")) === "1");
    await drag(page, "News", "Island life", 0.5);
    await eventually("the category is where it was dropped", async () => (await parentOf(server, categories, news.id)) === island.id);
    await eventually("the tree shows it", async () => (await titled(page, "News").getAttribute("aria-level")) === "2");
    // A record does not go below itself: nothing happens, and somebody says so.
    await drag(page, "Island life", "News", 0.5);
    await page.getByRole("region", { name: "Messages" }).getByText("“Island life” cannot go there.").waitFor();
    await drag(page, "News", "Uncategorized", 0.05);
    await eventually("the category is at the top again", async () => (await parentOf(server, categories, news.id)) === 0);
    assert.equal(await parentOf(server, categories, island.id), 0);
  },

  async "pages are put in order by the pointer"({ server, meet }) {
    const erin = await meet();
    await erin.logIn("editor");
    const { page } = erin;
    await open(erin, "/r/pages");
    const order = async () => (await server.ask("editor", "GET", `${pages}?parent=0&orderby=menu_order&order=asc`)).body.map((one) => one.title.rendered);
    const before = await order();
    assert.equal(before.length, 2);
    await drag(page, before[1], before[0], 0.05);
    await eventually("the pages have changed places", async () => (await order()).join() === [...before].reverse().join());
    const shown = () => page.getByRole("row", { level: 1 }).locator(".cell-title a").allTextContents();
    await eventually("the tree shows it", async () => (await shown()).join() === [...before].reverse().join());
  },

  async "a tree of five thousand is read branch by branch, searched, and changed"({ server, meet }) {
    await planted(server, 100, 50);
    const ada = await meet();
    const { page } = ada;
    await ada.logIn("administrator");
    const asked = [];
    page.on("request", (request) => request.url().includes(`${categories}?`) && asked.push(new URL(request.url()).search));
    await open(ada, "/r/categories?layout=tree");
    await page.getByText(/5,\d+ items\. The tree is large/).waitFor();
    assert.ok(asked.length <= 6, `a large tree begins with ${asked.length} requests:\n${asked.join("\n")}`);
    await titled(page, "Branch 007").getByRole("button", { name: "Unfold “Branch 007”" }).click();
    await titled(page, "Leaf 007-049").waitFor();
    await ada.accessible("a large tree");
    await titled(page, "Branch 007").focus();
    await page.keyboard.press("ArrowLeft");
    await titled(page, "Leaf 007-049").waitFor({ state: "detached" });
    // Beyond the first hundred at the top.
    assert.equal(await titled(page, "Uncategorized").count(), 0);
    await page.getByRole("button", { name: "Show more" }).last().click();
    await titled(page, "Uncategorized").waitFor();
    // What is searched is found wherever it is.
    await page.getByRole("searchbox").first().fill("Leaf 093-01");
    await titled(page, "Leaf 093-017").waitFor();
    await page.getByRole("searchbox").first().fill("");
    // A record that is moved into a folded branch is seen there.
    await titled(page, "Branch 007").waitFor();
    asked.length = 0;
    await drag(page, "Branch 009", "Branch 008", 0.5);
    await titled(page, "Leaf 008-000").waitFor();
    await eventually("the branch is below the other", async () => (await titled(page, "Branch 009").getAttribute("aria-level")) === "2");
    assert.ok(asked.length <= 8, `a move costs ${asked.length} requests:\n${asked.join("\n")}`);
    const moved = await find(server, categories, "Branch 009");
    assert.equal(moved.parent, (await find(server, categories, "Branch 008")).id);

    // Forms find terms by their names, and say what they are below.
    await open(ada, "/r/posts/new");
    asked.length = 0;
    const box = page.getByRole("combobox", { name: "Categories" });
    await box.fill("Leaf 050-02");
    const option = page.getByRole("option", { name: /Leaf 050-020.*Branch 050/ });
    await option.click();
    assert.ok(asked.length <= 5, `a choice costs ${asked.length} requests:\n${asked.join("\n")}`);
    await page.getByRole("textbox", { name: "Title", exact: true }).fill("Filed deep below");
    await stored(page, () => press(page, "Save draft"));
    const { body: [post] } = await server.ask("administrator", "GET", "/cms/v2/posts?status=draft&search=Filed");
    const leaf = await find(server, categories, "Leaf 050-020");
    assert.deepEqual(post.categories, [leaf.id]);
    await settled(page);
  },
};
