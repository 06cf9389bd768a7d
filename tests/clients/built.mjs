// A site that Astro builds whole when a build hook is called, after random edits: once the last build has ended, each page is what
// the server has.
//
// Usage: node built.mjs SITE LOGIN PASSWORD FOLDER PORT [EDITS [SEED]]
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { editor, later } from './edits.mjs';

const [site, login, password, folder, port, edits = '1000', given] = process.argv.slice(2);
const seed = Number(given ?? Math.floor(Math.random() * 2 ** 31));
const rest = `${site}/wp-json`;
const { ask, begin, edit, mark, now, paths } = editor(rest, login, password, seed);
/** Edits before the pages are looked at. */
const TOGETHER = Number(process.env.TOGETHER ?? 100);

// ------------------------------------------------------------------------------------------------------------ builds

const counts = { calls: 0, builds: 0, looks: 0, stale: [] };
let wanted = false;
let building = null;
let current = null;

function build(out) {
  const env = { ...process.env, CMS_URL: rest, OUT: out, ASTRO_TELEMETRY_DISABLED: '1' };
  const astro = spawn(process.execPath, ['../node_modules/astro/astro.js', 'build'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const part of [astro.stdout, astro.stderr]) part.on('data', (text) => (said += text));
  return new Promise((done, failed) => astro.on('close', (code) => (code === 0 ? done() : failed(new Error(said)))));
}

/** As hosts of sites do: a call during a build leads to one more. */
async function work() {
  while (wanted) {
    wanted = false;
    counts.builds += 1;
    const [out, before] = [resolve(folder, `dist-${counts.builds}`), current];
    await build(out);
    current = out;
    if (before) rmSync(before, { recursive: true });
  }
  building = null;
}

const hook = createServer((request, response) => {
  counts.calls += 1;
  wanted = true;
  building ??= work();
  request.resume().on('end', () => response.end('{}'));
}).listen(Number(port), '127.0.0.1');

// ------------------------------------------------------------------------------------------------------------ pages

/** The number of the newest change. */
async function newest() {
  const answer = await fetch(`${rest}/server/v1/events?resources=tags`, { headers: { Accept: 'text/event-stream' } });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const tag = await mark();
  let text = '';
  for (;;) {
    text += (await reader.read()).value;
    const told = text.split('\n').find((line) => line.startsWith('data:') && JSON.parse(line.slice(5)).record === tag);
    if (!told) continue;
    await reader.cancel();
    return JSON.parse(told.slice(5)).id;
  }
}

/** Waits until the hook was called for all that has changed, and the builds of these calls have ended. */
async function built() {
  const last = await newest();
  for (let n = 0; ; n++) {
    const [sent] = await ask('GET', 'server/v1/webhook-deliveries?state=sent&per_page=1&order=desc&_fields=event');
    if (sent?.event >= last) break;
    assert.ok(n < 600, JSON.stringify(await ask('GET', 'server/v1/webhooks')));
    await later(100);
  }
  await building;
}

function page(path) {
  const file = join(current, path, 'index.html');
  if (!existsSync(file)) return 'null';
  const named = { '&quot;': '"', '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#39;': "'", '&#x27;': "'" };
  return /<pre>(.*?)<\/pre>/s.exec(readFileSync(file, 'utf8'))[1].replace(/&(quot|amp|lt|gt|#39|#x27);/g, (name) => named[name]);
}

async function look(when) {
  await built();
  for (const path of paths) {
    const found = await now(path);
    // What leads elsewhere or shows no record is not built.
    const empty = !found || found.kind === 'redirect' || (found.records && found.records.length === 0);
    const [shown, expected] = [page(path), JSON.stringify(found)];
    counts.looks += 1;
    if (shown !== expected && !(empty && shown === 'null')) {
      counts.stale.push(`${when}: ${path}: ${shown.slice(0, 300)} instead of ${expected.slice(0, 300)}`);
    }
  }
}

try {
  await begin();
  await look('at first');
  for (let n = 0; n < Number(edits); n++) {
    await edit();
    if ((n + 1) % TOGETHER === 0) await look(`after ${n + 1} edits`);
  }
  console.log(
    `${edits} edits of ${paths.size} pages: ${counts.calls} calls, ${counts.builds} builds, ${counts.looks} looks, ` +
      `${counts.stale.length} stale after the last build (seed ${seed})`,
  );
  console.log(counts.stale.slice(0, 5).join('\n'));
  assert.equal(counts.stale.length, 0);
} finally {
  hook.close();
}
