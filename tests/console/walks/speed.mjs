// How fast it is: the first list behind a slow line, keys in a long text, a list of many rows. Times are printed; asserted is
// what does not depend on what else a machine does: bytes, round trips, processor time of the page.
import { assert, choose, open, settled } from "../steps.mjs";

const ROWS = Number(process.env.CMS_WALKS_ROWS ?? 2_000);
const WORDS = 5_000;

export const site = {};

const posts = "/cms/v2/posts";

async function planted(server) {
  const lines = Array.from({ length: ROWS }, (_, place) =>
    JSON.stringify({ title: `Entry ${String(place).padStart(6, "0")}`, status: place % 10 === 0 ? "draft" : "publish", content: `<p>Row ${place}</p>`, date: new Date(Date.UTC(2000, 0, 1) + place * 3_600_000).toISOString().slice(0, 19) }));
  for (let at = 0; at < lines.length; at += 1000) {
    const made = await server.send("administrator", "POST", `${posts}/import`, lines.slice(at, at + 1000).join("\n"), "application/x-ndjson");
    assert.ok(made.status < 300, `${made.status} ${JSON.stringify(made.body).slice(0, 300)}`);
  }
}

/**
 * A visit of a list behind a line with a latency of 50 ms: when its first row is there, what was transferred, in how many
 * steps, and the processor time of the page in milliseconds. Requests to the interface leave only once the row is there: a row that waited for one would never come.
 */
async function visit(person, path, row, base) {
  const { page } = person;
  const line = await person.context.newCDPSession(page);
  await line.send("Network.enable");
  await line.send("Performance.enable", { timeDomain: "threadTicks" });
  await line.send("Network.emulateNetworkConditions", { offline: false, latency: 50, downloadThroughput: 1_600_000, uploadThroughput: 800_000 });
  let bytes = 0;
  line.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.addInitScript((base) => {
    const shown = new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector("main [data-row] a") === null) return;
        performance.mark("list-shown");
        observer.disconnect();
        resolve();
      }).observe(document, { childList: true, subtree: true });
    });
    const send = window.fetch;
    window.fetch = async (address, init) => {
      if (new URL(address, location.href).pathname.startsWith(base)) await shown;
      return send(address, init);
    };
  }, base);
  await page.goto(`${person.origin}/admin${path}`, { waitUntil: "commit" });
  await page.getByRole("link", { name: row }).first().waitFor();
  const told = await page.evaluate(() => {
    const [document_] = performance.getEntriesByType("navigation");
    const shown = performance.getEntriesByName("list-shown")[0].startTime;
    const rest = performance.getEntriesByType("resource").map(({ name, startTime, responseEnd }) => [name.replace(location.origin, ""), Math.round(startTime), Math.round(responseEnd)]);
    return { shown, document: document_.responseEnd, rest };
  });
  await settled(page);
  const { metrics } = await line.send("Performance.getMetrics");
  const work = metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  await line.detach();
  return { ...told, bytes, work };
}

/**
 * The first rows cost two round trips: the page, then its files, all at once. Nothing is fetched after a file has come.
 */
function inTwoSteps({ shown, rest }) {
  const files = rest.filter(([name, , to]) => to <= shown && name.includes("/assets/"));
  const first = Math.min(...files.map(([, , to]) => to));
  const late = files.filter(([, from]) => from >= first).map(([name]) => name);
  assert.ok(files.length > 0, "the page has files");
  assert.deepEqual(late, [], "files are fetched at once");
}

const SENTENCE = "Nobody knows how long the fog will stay this time.";

/** Presses keys as people do: the next one comes when the page has nothing to do. */
async function press(page, text) {
  for (const letter of text) {
    await page.keyboard.press(letter === " " ? "Space" : letter);
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
  }
}

/**
 * What the editor does for each key of a text, in milliseconds: with each change of the document, and at the next frame for the
 * bars around it. The browser's own work and the wait for a frame, which a busy machine decides, are no part of it.
 */
async function keysOf({ page }, text) {
  await page.evaluate(() => {
    window.work = 0;
    window.watch = new PerformanceObserver((list) => window.add(list.getEntries()));
    window.add = (entries) => (window.work += entries.reduce((sum, { name, duration }) => sum + (name.startsWith("editor.") ? duration : 0), 0));
    window.watch.observe({ type: "measure" });
  });
  const costs = [];
  for (const letter of text) {
    await press(page, letter);
    costs.push(
      await page.evaluate(() => {
        window.add(window.watch.takeRecords());
        const done = window.work;
        window.work = 0;
        return done;
      }),
    );
  }
  await page.evaluate(() => window.watch.disconnect());
  return costs.filter((cost) => cost > 0);
}

/** Opens a post of so many words and types in the midst of it. */
async function typed({ server, meet }, words, text) {
  const paragraph = `<!-- wp:paragraph -->\n<p>${WORDS_OF_PARAGRAPH}</p>\n<!-- /wp:paragraph -->`;
  const content = Array.from({ length: words / 100 }, () => paragraph).join("\n\n");
  const { body: { id } } = await server.ask("administrator", "POST", posts, { title: "A long log", content, status: "draft" });
  const ada = await meet();
  await ada.logIn("administrator");
  const { page } = ada;
  await open(ada, `/r/posts/${id}`);
  await page.bringToFront();
  await page.locator(".ProseMirror p").nth(words / 200).click();
  // The first keys load what is not there yet: nobody measures them.
  await press(page, "Well. ");
  const keys = await keysOf(ada, text);
  assert.ok((await page.locator(".ProseMirror").innerText()).includes(SENTENCE));
  page.once("dialog", (question) => void question.accept());
  const half = percentile(keys, 0.5);
  console.log(`  ${words} words, ${keys.length} keys: half of them take ${half.toFixed(2)} ms of the editor's work, 95 of 100 ${percentile(keys, 0.95).toFixed(2)} ms`);
  assert.ok(keys.length >= text.length * 0.9, `${keys.length} of ${text.length} keys changed the text`);
  return half;
}

const WORDS_OF_PARAGRAPH = "The keeper writes down the wind and the weather again. ".repeat(10).trim();

const percentile = (values, part) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

export const walks = {
  async "the first list behind a line with a latency of 50 ms"({ server, meet }) {
    await server.ask("administrator", "POST", posts, { title: "A first entry", status: "publish" });
    const ada = await meet();
    await ada.logIn("administrator");
    await ada.page.goto("about:blank");
    // The server is warm: it has answered before.
    const cold = await meet();
    await cold.context.addCookies(await ada.context.cookies());
    const first = await visit(cold, "/r/posts", "A first entry", "/cms-json");
    console.log(`  empty cache: first row after ${Math.round(first.shown)} ms, ${Math.round(first.bytes / 1024)} KB, ${Math.round(first.work)} ms of work`);
    for (const [name, from, to] of first.rest) console.log(`    ${from}–${to} ms ${name.slice(0, 100)}`);
    await cold.page.goto("about:blank");
    const again = await visit(cold, "/r/posts", "A first entry", "/cms-json");
    console.log(`  files in the cache: first row after ${Math.round(again.shown)} ms, ${Math.round(again.bytes / 1024)} KB, ${Math.round(again.work)} ms of work`);
    assert.ok(first.bytes <= 400 * 1024, `the first list transfers ${first.bytes} bytes`);
    assert.ok(again.bytes < first.bytes / 2, "files are kept in the cache");
    inTwoSteps(first);
    assert.ok(first.work < 2000 && again.work < 2000, `the page works for ${first.work} and ${again.work} ms`);
  },

  async "keys in a text of 5,000 words"(site) {
    const short = await typed(site, WORDS / 10, SENTENCE);
    const long = await typed(site, WORDS, SENTENCE);
    // A key is seen in the next frame. Other tests take time of the same processor, so a quarter of a frame is not asked for here.
    assert.ok(long < 16, `half of the keys take more than ${long} ms of the editor's work`);
    assert.ok(long < 3 * short + 0.5, `a key takes ${short} ms in a text of ${WORDS / 10} words and ${long} ms in one of ${WORDS}`);
  },

  async "a list of many rows"({ server, meet }) {
    const begun = performance.now();
    await planted(server);
    console.log(`  ${ROWS} rows written in ${Math.round((performance.now() - begun) / 1000)} s`);
    const ada = await meet();
    await ada.logIn("administrator");
    const { page } = ada;
    await open(ada, "/r/posts");
    const timed = async (what, act, row) => {
      const from = performance.now();
      await act();
      await page.getByRole("link", { name: row }).first().waitFor();
      console.log(`  ${what}: ${Math.round(performance.now() - from)} ms`);
    };
    const last = ROWS - 1;
    const named = (place) => `Entry ${String(place).padStart(6, "0")}`;
    await page.getByRole("link", { name: named(last) }).waitFor();
    await timed("next page", () => page.getByRole("button", { name: "Next page" }).click(), named(last - 20));
    // From the end the server is asked for its first rows, not to count its way to the last ones.
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url())));
    const counted = await server.ask("administrator", "GET", `${posts}?per_page=1&status=publish,draft&_fields=id`);
    const over = Number(counted.headers.get("x-cms-total")) % 20 || 20;
    await timed("last page", () => page.getByRole("button", { name: "Last page" }).click(), named(over - 1));
    await page.getByText(/^Page [\d,]+ of [\d,]+$/).waitFor();
    await timed("the page before", () => page.getByRole("button", { name: "Previous page" }).click(), named(over + 19));
    await timed("opened and back", async () => {
      await page.getByRole("link", { name: named(over + 19) }).click();
      await page.waitForURL(/posts\/\d+$/);
      await page.goBack();
    }, named(over + 19));
    assert.deepEqual(asked.filter((url) => Number(url.searchParams.get("page") ?? 1) > 1).map(String), [], "no page is asked for by its number");
    await timed("first page", () => page.getByRole("button", { name: "First page" }).click(), named(last));
    await timed("filtered", () => open(ada, "/r/posts?f=author~in~1"), named(last));
    await timed("20 rows changed", async () => {
      await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
      await choose(page, page.getByRole("region", { name: "Selected items" }).getByRole("button", { name: "Set the status" }), "Draft");
      await page.getByText(/^20 items are changed/).first().waitFor();
    }, named(last));
    await open(ada, "/r/posts");
    await timed("sorted by title", () => page.getByRole("columnheader", { name: "Title" }).getByRole("button").click(), named(0));
    await timed("search", () => page.getByRole("searchbox").fill(named(ROWS - 7)), named(ROWS - 7));
    await page.getByText(/^1 item$/).first().waitFor();
    await open(ada, "/r/posts?state=draft");
    await page.getByRole("link", { name: named(ROWS - 10) }).waitFor();
  },
};
