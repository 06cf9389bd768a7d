// What Lighthouse finds on the pages of single records, which the server shows where no front end does: `tests/console/run lighthouse`.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { start } from "./server.mjs";

const LEAST = { seo: 100, accessibility: 100, "best-practices": 100, performance: 95 };
const require = createRequire(join(process.env.CMS_WALKS_PACKAGES, "package.json"));
const { default: lighthouse } = await import(pathToFileURL(require.resolve("lighthouse")).href);

/** Addresses of records of the demo site: the newest post, the oldest, and a page. */
async function addresses(origin) {
  const found = [];
  for (const list of ["posts", "pages"]) {
    const text = await (await fetch(`${origin}/sitemap-${list}-1.xml`)).text();
    const all = [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map((match) => match[1]).filter((url) => new URL(url).pathname !== "/");
    found.push(...(list === "posts" ? [all[0], all.at(-1)] : [all[0]]));
  }
  return found;
}

/** The declarations with the metadata for search engines. */
function prepare(folder, program) {
  execFileSync(program, ["init", join(folder, "told")], { stdio: ["ignore", "ignore", "pipe"] });
  const routes = join(folder, "told", "routes.toml");
  const core = '"schemas/core/*.toml"';
  writeFileSync(routes, readFileSync(routes, "utf8").replace(core, `${core}, "schemas/profiles/seo.toml"`));
  return routes;
}

const profile = mkdtempSync(join(tmpdir(), "lighthouse-"));
const chromium = spawn("/usr/bin/chromium", [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank",
], { stdio: ["ignore", "ignore", "pipe"] });
const port = await new Promise((resolve, reject) => {
  let told = "";
  chromium.once("exit", () => reject(new Error(`the browser ended:\n${told}`)));
  chromium.stderr.on("data", (chunk) => {
    told += chunk;
    const found = /listening on ws:\/\/[^:]+:(\d+)\//.exec(told);
    if (found) resolve(Number(found[1]));
  });
});

const failed = [];
for (const [site, options] of [["with seo", { prepare }], ["as it is", {}]]) {
  const server = await start({ demo: true, ...options });
  for (const url of await addresses(server.origin)) {
    const begun = performance.now();
    const { lhr } = await lighthouse(url, { port, output: "json", logLevel: "error", onlyCategories: Object.keys(LEAST) });
    const scores = Object.entries(LEAST).map(([name, least]) => [name, Math.round(lhr.categories[name].score * 100), least]);
    console.log(`${site}: ${new URL(url).pathname}: ${scores.map(([name, score]) => `${name} ${score}`).join(", ")} (${Math.round(performance.now() - begun)} ms)`);
    for (const [name, score, least] of scores.filter(([, score, least]) => score < least)) {
      failed.push(`${site}: ${url}: ${name} ${score}, not ${least}`);
      for (const { id, weight } of lhr.categories[name].auditRefs) {
        const audit = lhr.audits[id];
        if (weight > 0 && audit.score !== null && audit.score < 1) failed.push(`  ${id}: ${audit.title} ${JSON.stringify(audit.details?.items ?? []).slice(0, 600)}`);
      }
    }
  }
  await server.close();
}
chromium.removeAllListeners("exit");
const ended = new Promise((resolve) => chromium.once("exit", resolve));
chromium.kill();
await ended;
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
if (failed.length > 0) {
  console.error(failed.join("\n"));
  process.exit(1);
}
