// A site of Next whose pages are kept until a webhook names their addresses, after random edits: each page is what the server
// has, and few are made again without need.
//
// Usage: node isr.mjs SITE LOGIN PASSWORD FOLDER FRONT SECRET [EDITS [SEED]]
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { editor, later, visit } from './edits.mjs';

const [site, login, password, folder, front, secret, edits = '1000', given] = process.argv.slice(2);
const seed = Number(given ?? Math.floor(Math.random() * 2 ** 31));
const rest = `${site}/wp-json`;
const { ask, begin, edit, fresh, mark, paths } = editor(rest, login, password, seed);
/** Edits before the pages are looked at. */
const TOGETHER = Number(process.env.TOGETHER ?? 20);
/** How long after the last call a page may be old. */
const AFTER = 2000;
const log = resolve(folder, 'made.log');

// ------------------------------------------------------------------------------------------------------------ pages

const shown = new Map();
const counts = { looks: 0, made: 0, needless: 0, old: 0, stale: [] };

async function read(path) {
  const text = await (await fetch(new URL(encodeURI(path), front), { redirect: 'manual' })).text();
  const found = /<pre>(.*?)<\/pre>/s.exec(text);
  assert.ok(found, `${path}: ${text.slice(0, 300)}`);
  const named = { '&quot;': '"', '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#x27;': "'" };
  return found[1].replace(/&(quot|amp|lt|gt|#x27);/g, (name) => named[name]);
}

/** Waits until the webhook has sent what there is. */
async function delivered() {
  const tag = await mark();
  for (let n = 0; n < 600; n++) {
    const [last] = await ask('GET', 'server/v1/webhook-deliveries?per_page=1&order=desc&context=edit');
    if (last?.state === 'sent' && last.request.includes(`tags/${tag}"`)) return performance.now();
    await later(50);
  }
  throw new Error(JSON.stringify(await ask('GET', 'server/v1/webhooks')));
}

async function look(when) {
  const at = await delivered();
  for (const path of [...paths]) {
    writeFileSync(log, '');
    const expected = await fresh(path);
    let page = await visit(read, path);
    if (page !== expected) {
      counts.old += 1;
      await later(Math.max(0, at + AFTER - performance.now()));
      page = await visit(read, path);
    }
    counts.looks += 1;
    if (page !== expected) counts.stale.push(`${when}: ${path}: ${page.slice(0, 300)} instead of ${expected.slice(0, 300)}`);
    if (readFileSync(log, 'utf8') !== '' && shown.has(path)) {
      counts.made += 1;
      counts.needless += shown.get(path) === expected;
    }
    shown.set(path, expected);
  }
}

const env = { ...process.env, CMS_URL: rest, CMS_SECRET: secret, MADE: log, NEXT_TELEMETRY_DISABLED: '1' };
writeFileSync(log, '');
const next = spawn(process.execPath, ['../node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1', '-p', new URL(front).port], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
try {
  for (let n = 0; n < 600 && !(await fetch(`${front}/favicon.ico`).catch(() => null)); n++) await later(100);
  await begin();
  await look('at first');
  for (let n = 0; n < Number(edits); n++) {
    await edit();
    if ((n + 1) % TOGETHER === 0) await look(`after ${n + 1} edits`);
  }
  const share = (n, of) => `${((100 * n) / of).toFixed(1)} %`;
  console.log(
    `${edits} edits of ${paths.size} pages: ${counts.looks} looks, ${counts.stale.length} stale 2 s after the last call (${counts.old} when it came); ` +
      `${counts.made} pages made again, ${counts.needless} of them without need (${share(counts.needless, counts.made)}; ${share(counts.needless, counts.looks)} of all) (seed ${seed})`,
  );
  console.log(counts.stale.slice(0, 5).join('\n'));
  assert.equal(counts.stale.length, 0);
} finally {
  next.kill();
}
