// Runs the walks, or those that are named: `drive.mjs lists forms`. Two at a time, each with a server of its own; the longest
// begin, so that none is left to run alone.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { launch, person } from "./browser.mjs";
import { start } from "./server.mjs";

const folder = join(process.cwd(), "tests/console/walks");
const shots = join(process.cwd(), "target/console/failed");
const chosen = process.argv.slice(2);
const longest = ["speed", "screens", "export"];
const names = readdirSync(folder).filter((name) => name.endsWith(".mjs")).map((name) => name.slice(0, -4)).sort();
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`there is no walk ${unknown.join(", ")}; there are ${names.join(", ")}`);
  process.exit(2);
}

const browser = await launch();
const failed = [];

async function play(name) {
  const { walks, site = {} } = await import(join(folder, `${name}.mjs`));
  const server = await start(site);
  try {
    for (const [title, walk] of Object.entries(walks)) {
      const people = [];
      const meet = async (options) => {
        const one = await person(browser, server, options);
        people.push(one);
        return one;
      };
      const begun = performance.now();
      try {
        await walk({ server, meet });
        for (const one of people.splice(0)) await one.close();
        console.log(`${name}: ${title} (${Math.round(performance.now() - begun)} ms)`);
      } catch (error) {
        failed.push(`${name}: ${title}`);
        console.error(`${name}: ${title} FAILED\n${error.stack ?? error}`);
        mkdirSync(shots, { recursive: true });
        for (const [index, one] of people.entries()) {
          await one.page.screenshot({ path: join(shots, `${name}-${title.replace(/\W+/g, "-").slice(0, 60)}-${index}.png`) }).catch(() => {});
          await one.close().catch((problem) => console.error(String(problem)));
        }
      }
    }
  } finally {
    await server.close();
  }
}

const waiting = chosen.length > 0 ? [...chosen] : [...longest, ...names.filter((name) => !longest.includes(name))];
const lane = async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    await play(name).catch((error) => {
      failed.push(name);
      console.error(`${name} FAILED\n${error.stack ?? error}`);
    });
  }
};
await Promise.all([lane(), lane()]);
await browser.close();
if (failed.length > 0) {
  console.error(`failed:\n  ${failed.join("\n  ")}`);
  process.exit(1);
}
