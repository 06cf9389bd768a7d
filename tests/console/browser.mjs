// Chromium, and what has to hold on every page: no error in its console (a violation of the policy is one), no request to
// anywhere else, nothing that axe finds.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PASSWORD } from "./server.mjs";

const require = createRequire(join(process.env.CMS_WALKS_PACKAGES, "package.json"));
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const launch = () =>
  chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--font-render-hinting=none",
      // A page that a walk answers itself has no address: it may show what is on this machine all the same.
      "--disable-features=LocalNetworkAccessChecks"],
  });

/** While the console is written: a folder that Vite has built, instead of the files in the program. */
const built = process.env.CMS_WALKS_CONSOLE;

async function useBuilt(context) {
  const own = readFileSync(join(built, "index.html"), "utf8").split("</title>")[1];
  await context.route(/\/admin(\/|\?|$)/, async (route) => {
    const path = new URL(route.request().url()).pathname.replace(/^\/admin\/?/, "");
    if (path.startsWith("assets/") && existsSync(join(built, path))) return route.fulfill({ path: join(built, path) });
    const response = await route.fetch({ maxRedirects: 0 });
    const page = await response.text();
    const data = /<script[^>]* id="boot">.*?<\/script>/s.exec(page)?.[0];
    if (data === undefined) return route.continue();
    const head = page.slice(0, page.indexOf("</title>") + "</title>".length);
    return route.fulfill({ response, body: head + own.replace("</body>", () => `${data}</body>`) });
  });
}

/**
 * A browser context of one person. `expected` are patterns of messages in the console that the walk itself causes, such as
 * the failed requests of a server that was taken away; `elsewhere` are origins beside the server's that pages may ask.
 */
export async function person(browser, server, { width = 1280, height = 800, theme = "light", locale = "en-US", userAgent, expected = [], elsewhere = [] } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: theme, locale, reducedMotion: "reduce", timezoneId: "UTC", acceptDownloads: false, userAgent,
  });
  context.setDefaultTimeout(15_000);
  if (built !== undefined) await useBuilt(context);
  const problems = [];
  const excused = [...expected];
  const tell = (text) => excused.some((pattern) => pattern.test(text)) || problems.push(text);
  context.on("page", (page) => {
    page.on("pageerror", (error) => tell(`${page.url()}: ${error.stack ?? error}`));
    page.on("console", (message) => message.type() === "error" && tell(`${page.url()}: ${message.text()} ${message.location().url}`));
  });
  context.on("request", (request) => {
    const url = request.url();
    const allowed = [server.origin, ...elsewhere].some((origin) => url.startsWith(origin));
    if (!allowed && !/^(data|blob|about):/.test(url)) tell(`a request to ${url}`);
  });
  const page = await context.newPage();
  let account;
  return {
    context,
    page,
    origin: server.origin,
    /** Messages of this kind are no problem from now on. */
    excuse: (pattern) => excused.push(pattern),
    async logIn(name, { destination = "/admin/", password = PASSWORD } = {}) {
      account = [name, password];
      await page.goto(server.origin + destination);
      await this.enter(page);
      await page.waitForURL((url) => url.pathname.startsWith("/admin"));
      // What a redirect leads to is not intercepted.
      if (built !== undefined) await page.reload();
    },
    /** Fills in a login that is shown, as the person who has logged in. */
    async enter(login) {
      // The page speaks the browser's language.
      await login.locator("input[autocomplete=username]").fill(account[0]);
      await login.locator("input[type=password]").fill(account[1]);
      await login.locator("form button:not([type=button])").first().click();
    },
    /** What axe finds on the page, as an error; of `only` some rules where they are named, and not by the rules of `without`. */
    async accessible(where, { only, without = [] } = {}) {
      if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeSource);
      const found = await page.evaluate(async ({ only, without }) => {
        // What a sticky head covers counts as a target that is too small.
        scrollTo(0, 0);
        // Another theme or width counts from the next frame on.
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        // Colours in the middle of a transition are nobody's colours.
        await Promise.all(document.getAnimations().map((one) => one.finished.catch(() => undefined)));
        const { violations } = await globalThis.axe.run(document, {
          runOnly: only ?? ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
          rules: Object.fromEntries(without.map((name) => [name, { enabled: false }])),
          resultTypes: ["violations"],
        });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 4).join(" | ")}`);
      }, { only, without });
      if (found.length > 0) throw new Error(`axe finds on ${where}:\n  ${found.join("\n  ")}`);
    },
    async close() {
      // A page that is left may still wait for what was built.
      await context.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
      if (problems.length > 0) throw new Error(`the browser reports:\n  ${[...new Set(problems)].join("\n  ")}`);
    },
  };
}
