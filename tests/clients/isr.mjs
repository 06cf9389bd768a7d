// A site of Next whose pages are kept until a webhook names their addresses, after random edits: each page is what the server
// has, and few are made again without need.
//
// Usage: node isr.mjs SITE LOGIN PASSWORD FOLDER FRONT SECRET [EDITS [SEED]]
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { data } from './isr/data.mjs';

const [site, login, password, folder, front, secret, edits = '1000', given] = process.argv.slice(2);
const seed = Number(given ?? Math.floor(Math.random() * 2 ** 31));
const rest = `${site}/wp-json`;
/** Edits before the pages are looked at. */
const TOGETHER = Number(process.env.TOGETHER ?? 20);
/** How long after the last call a page may be old. */
const AFTER = 2000;
const log = join(folder, 'made.log');
const later = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// The same numbers for the same seed (mulberry32).
let state = seed;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let n = Math.imul(state ^ (state >>> 15), 1 | state);
  n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n;
  return ((n ^ (n >>> 14)) >>> 0) / 2 ** 32;
}
const below = (most) => Math.floor(random() * most);
const one = (list) => list[below(list.length)];
const some = (list, most) => list.filter(() => below(list.length) < most);

async function ask(method, route, body) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(`${login}:${password}`)}` };
  const answer = await fetch(`${rest}/${route}`, { method, headers, body: body && JSON.stringify(body) });
  const told = await answer.json();
  assert.ok(answer.ok, `${method} ${route}: ${JSON.stringify(told)}`);
  return told;
}

// ------------------------------------------------------------------------------------------------------------ edits

const posts = new Map();
const pages = new Map();
const trash = [];
/** Where records are. */
const places = new Map();
const terms = { categories: [], tags: [] };
const paths = new Set(['/', '/author/admin/']);
const pathOf = (link) => decodeURI(new URL(link).pathname);
const content = (text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
let made = 0;

/**
 * Notes where a record is, and the lists that may show it. Its address before is named with the change; older ones lead to it,
 * and no later event names them.
 */
function note(record, kind) {
  (kind === 'posts' ? posts : pages).set(record.id, record.status);
  if (record.status !== 'publish') return;
  paths.delete(places.get(record.id));
  places.set(record.id, pathOf(record.link));
  paths.add(pathOf(record.link));
  const [year, month] = record.date.split('-');
  if (kind === 'posts') [`/${year}/`, `/${year}/${month}/`].forEach((path) => paths.add(path));
}

async function create(kind) {
  made += 1;
  const body = { title: `${kind} ${made}`, content: content(`Made as ${made}.`), status: 'publish' };
  if (kind === 'posts') {
    Object.assign(body, { categories: some(terms.categories, 2), tags: some(terms.tags, 2), date: `202${below(4)}-0${1 + below(9)}-15T08:00:00` });
  }
  note(await ask('POST', `wp/v2/${kind}`, body), kind);
}

async function makeTerm(kind, parent) {
  made += 1;
  const term = await ask('POST', `wp/v2/${kind}`, { name: `${kind} ${made}`, ...(parent && { parent }) });
  terms[kind].push(term.id);
  paths.add(pathOf(term.link));
}

const change = async (kind, id, body) => note(await ask('POST', `wp/v2/${kind}/${id}`, body), kind);
const any = () => (below(5) ? ['posts', one([...posts.keys()])] : ['pages', one([...pages.keys()])]);
const EDITS = [
  [10, async () => change(...any(), { title: `Title ${(made += 1)}` })],
  [10, async () => change(...any(), { content: content(`Text ${(made += 1)}.`) })],
  [6, async () => {
    const [kind, id] = any();
    const state = (kind === 'posts' ? posts : pages).get(id);
    return change(kind, id, { status: state === 'publish' ? one(['draft', 'private']) : 'publish' });
  }],
  [5, async () => change('posts', one([...posts.keys()]), { categories: some(terms.categories, 2), tags: some(terms.tags, 2) })],
  [2, async () => change(...any(), { slug: `slug-${(made += 1)}` })],
  [4, async () => create(below(5) ? 'posts' : 'pages')],
  [3, async () => {
    const [kind, id] = any();
    const live = kind === 'posts' ? posts : pages;
    if (live.size < 8) return create(kind);
    await ask('DELETE', `wp/v2/${kind}/${id}`);
    live.delete(id);
    trash.push([kind, id]);
  }],
  [2, async () => {
    if (trash.length === 0) return create('posts');
    const [kind, id] = trash.splice(below(trash.length), 1)[0];
    return below(2) ? change(kind, id, { status: 'publish' }) : ask('DELETE', `wp/v2/${kind}/${id}?force=true`);
  }],
  [1, async () => {
    const kind = one(['categories', 'tags']);
    await ask('POST', `wp/v2/${kind}/${one(terms[kind])}`, { name: `${kind} ${(made += 1)}` });
  }],
];

async function edit() {
  let at = below(EDITS.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, make] of EDITS) {
    if (at < weight) return make();
    at -= weight;
  }
}

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

/** What a visitor gets at a path: an address that a record had leads on, maybe by the ones that it had later. */
async function visit(get, path) {
  for (let n = 0; ; n++) {
    const text = await get(path);
    const found = JSON.parse(text);
    if (found?.kind !== 'redirect' || n > 20) return text;
    path = pathOf(found.location);
  }
}
const fresh = (path) => visit(async (at) => JSON.stringify(await data(rest, at, () => ({}))), path);

/** Waits until the webhook has sent what there is. */
async function delivered() {
  const mark = await ask('POST', 'wp/v2/tags', { name: `mark-${(made += 1)}` });
  for (let n = 0; n < 600; n++) {
    const [last] = await ask('GET', 'server/v1/webhook-deliveries?per_page=1&order=desc&context=edit');
    if (last?.state === 'sent' && last.request.includes(`tags/${mark.id}"`)) return performance.now();
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
  for (let n = 0; n < 6; n++) await makeTerm(n % 2 ? 'tags' : 'categories', n === 4 ? terms.categories[0] : 0);
  for (let n = 0; n < 30; n++) await create(n % 6 ? 'posts' : 'pages');
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
