// One of the examples over the server, as its owner has built it, read as a visitor and an editor would: the same checks for all.
//
// Usage: node example.mjs NAME SITE LOGIN PASSWORD FOLDER FRONT; with CMS_TEST_BROWSER, pages are looked at in one, too.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { startBrowser } from './browser.mjs';

const [name, site, login, password, folder, front] = process.argv.slice(2);
const rest = `${site}/wp-json`;
const { port } = new URL(front);

/** How each is started, and in what it differs; `refreshes`: previews read their record again by themselves. */
const examples = {
  astro: { program: ['dist/server/entry.mjs'], moved: 301, found: 302, gone: 410 },
  // Pages of Next redirect by 307 and 308, and have no other status than 200 and 404.
  next: { program: ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'], moved: 308, found: 307, gone: 404, cookie: '__prerender_bypass', refreshes: true },
  sveltekit: { program: ['build'], moved: 301, found: 302, gone: 410, refreshes: true },
  // Addresses are behind a `#`, and a page is what its script makes of it.
  html: { serve: files, inBrowser: true, refreshes: true, at: (path) => `/#${path}` },
};
const example = { at: (path) => path, ...examples[name] };

function ok(what, found, expected) {
  assert.deepEqual(found, expected, what);
  console.log(`ok ${what}`);
}

async function make(route, body) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(`${login}:${password}`)}` };
  const answer = await fetch(`${rest}/${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const made = await answer.json();
  assert.ok(answer.ok, `${route}: ${JSON.stringify(made)}`);
  return made;
}

const content = `<!-- wp:heading -->
<h2 class="wp-block-heading">Tides &amp; boats</h2>
<!-- /wp:heading -->
<!-- wp:paragraph -->
<p>The <strong>old</strong> <a href="${site}/about/">harbour</a><a href="javascript:alert(1)">!</a><img src="x" onerror="alert(2)"></p>
<!-- /wp:paragraph -->
<!-- wp:paragraph -->
<p>At <mark style="background-color:transparent" class="has-inline-color">six</mark></p>
<!-- /wp:paragraph -->
<!-- wp:list -->
<ul class="wp-block-list"><!-- wp:list-item -->
<li>ropes</li>
<!-- /wp:list-item --></ul>
<!-- /wp:list -->
<!-- wp:table -->
<figure class="wp-block-table"><table><tbody><tr><td>high</td><td>05:12</td></tr></tbody></table></figure>
<!-- /wp:table -->
<!-- wp:verse -->
<pre class="wp-block-verse">High and low</pre>
<!-- /wp:verse -->`;
const harbour = await make('wp/v2/categories', { name: 'Harbour' });
const posts = [];
for (let n = 1; n <= 12; n++) {
  const date = `2024-03-${String(n).padStart(2, '0')}T08:00:00`;
  posts.push(await make('wp/v2/posts', { title: `Day ${n}`, content, status: 'publish', date, categories: n <= 2 ? [harbour.id] : [] }));
}
const about = await make('wp/v2/pages', { title: 'About', status: 'publish', content: '<p>We fish.</p>' });
const abroad = await make('wp/v2/pages', { title: '日本', slug: '日本', status: 'publish', content: '<p>100 %</p>' });
const menu = await make('wp/v2/menus', { name: 'Main' });
await make('wp/v2/menu-items', { title: 'About us', type: 'post_type', object: 'page', object_id: about.id, menus: menu.id, status: 'publish' });
const draft = await make('wp/v2/posts', { title: 'Not yet', content, status: 'draft' });

const started = performance.now();
const browser = process.env.CMS_TEST_BROWSER && (await startBrowser());
let stop = () => {};
try {
  stop = await (example.serve ?? run)();
  await visit(example.inBrowser ? look : read);
  if (browser) await watch();
  console.log(`read in ${((performance.now() - started) / 1000).toFixed(1)} s`);
} finally {
  stop();
  await browser?.quit?.();
}

// ---------------------------------------------------------------------------------------------------------- serving

/** Starts the program that its framework has built, and waits for its first answer. */
async function run() {
  const env = { ...process.env, CMS_URL: rest, HOST: '127.0.0.1', PORT: port, NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1' };
  const server = spawn(process.execPath, example.program, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  for (let n = 0; n < 600 && server.exitCode === null; n++) {
    if (await fetch(front, { redirect: 'manual' }).catch(() => null)) return () => server.kill();
    await new Promise((done) => setTimeout(done, 100));
  }
  server.kill();
  assert.fail(`${name} does not start`);
}

/** Serves files as static hosts do: `404.html` for what is no file. */
async function files() {
  const page = join(folder, 'index.html');
  writeFileSync(page, readFileSync(page, 'utf8').replace(/(name="cms" content=")[^"]*/, `$1${rest}`));
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, front);
    const wanted = join(folder, pathname === '/' ? 'index.html' : pathname);
    const file = statSync(wanted, { throwIfNoEntry: false })?.isFile() ? wanted : null;
    response.writeHead(file ? 200 : 404, { 'Content-Type': `${types[extname(file ?? '.html')]}; charset=utf-8` });
    createReadStream(file ?? join(folder, '404.html')).pipe(response);
  });
  await new Promise((ready) => server.listen(port, '127.0.0.1', ready));
  return () => (server.close(), server.closeAllConnections());
}

// ---------------------------------------------------------------------------------------------------------- reading

/** What people see of a page: without what hydrates it. */
function seen(html) {
  return html.replace(/<script\b.*?<\/script>|<!--.*?-->/gs, '');
}

/** A page as its server makes it, with the redirects and cookies on the way there. */
async function read(address) {
  const hops = [];
  const cookies = new Map();
  let url = new URL(address, front);
  for (;;) {
    const headers = { Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') };
    const answer = await fetch(url, { redirect: 'manual', headers });
    for (const cookie of answer.headers.getSetCookie()) cookies.set(...cookie.split(';')[0].split(/=(.*)/s));
    const text = await answer.text();
    const to = answer.headers.get('location');
    if (!to || hops.length === 5) return { status: answer.status, address: url.href, hops, cookies, headers: answer.headers, text: seen(text) };
    hops.push(answer.status);
    url = new URL(to, url);
  }
}

/** A page as a browser shows it; it has the status that it shows. */
async function look(address) {
  await browser.open('about:blank');
  await browser.open(new URL(address, front).href);
  await browser.until('the page is not shown', 'return document.querySelector("main")?.ariaBusy === "false"');
  const [shown, text, heading] = await browser.run('return [location.href, document.documentElement.outerHTML, document.querySelector("h1")?.textContent]');
  return { status: heading === 'Not found' ? 404 : 200, address: shown, text: seen(text) };
}

async function visit(read) {
  const { at, moved, found } = example;
  const page = (path) => read(at(path));
  const of = (link) => page(new URL(link).pathname);
  const count = (text, what) => text.split(what).length - 1;
  const there = (link) => new URL(at(new URL(link).pathname), front).href;

  const home = await page('/');
  ok('the first page', [home.status, count(home.text, '<article')], [200, 10]);
  ok('its menu', home.text.includes(`<a href="${about.link}">About us</a>`), true);
  const second = await page('/?page=2');
  ok('the second page', [count(second.text, '<article'), second.text.includes('rel="prev"')], [2, true]);

  const post = await of(posts[0].link);
  ok('a record by its address', [post.status, post.text.includes('<h1>Day 1</h1>'), post.text.includes('<title>Day 1 – ')], [200, true, true]);
  ok('its blocks', [
    post.text.includes('<h2>Tides &amp; boats</h2>'),
    post.text.includes(`<p>The <strong>old</strong> <a href="${front}/about/">harbour</a><a>!</a></p>`),
    /<p>At <mark [^>]*background-color:\s?transparent[^>]*>six<\/mark><\/p>/.test(post.text),
    /<ul>\s*<li>\s*ropes\s*<\/li>\s*<\/ul>/.test(post.text),
    /<table>\s*<tbody>\s*<tr>\s*<td>high<\/td>\s*<td>05:12<\/td>\s*<\/tr>/.test(post.text),
    post.text.includes('<pre class="wp-block-verse">High and low</pre>'),
  ], [true, true, true, true, true, true]);
  const other = await of(abroad.link);
  ok('an address of other letters', [other.status, other.text.includes('<h1>日本</h1>'), other.hops ?? []], [200, true, []]);
  const term = await of(harbour.link);
  ok('the records of a term', [term.status, count(term.text, '<article'), term.text.includes('<h1>Harbour</h1>')], [200, 2, true]);
  const month = await page('/2024/03/');
  ok('the records of a month', [month.status, count(month.text, '<article')], [200, 10]);
  const author = await page('/author/admin/');
  ok('the records of an author', [author.status, count(author.text, '<article')], [200, 10]);
  if (example.inBrowser) ok('an address as feeds have it', (await read(posts[0].link)).address, there(posts[0].link));
  ok('nothing', (await page('/nothing-like-it/')).status, 404);
  ok('a search', count((await page('/search?q=Day')).text, '<article'), 10);

  await make(`wp/v2/posts/${posts[1].id}`, { slug: 'second-day' });
  const old = await of(posts[1].link);
  ok('an address from before', [old.address, old.hops], [there(posts[1].link.replace('day-2', 'second-day')), moved && [moved]]);
  const numbered = await page(`/?p=${posts[0].id}`);
  ok('an address by number', [numbered.address, numbered.hops], [there(posts[0].link), moved && [moved]]);
  await make('server/v1/redirects', { from: '/team', to: '/about/', status: 302 });
  const led = await page('/team');
  ok('a redirect', [led.address, led.hops], [there(about.link), found && [found]]);
  await make('server/v1/redirects', { from: '/sold', status: 410 });
  ok('what is gone', (await page('/sold')).status, example.gone ?? 404);

  ok('a draft without a token', (await page(`/?p=${draft.id}`)).status, 404);
  const { address } = await make(`wp/v2/posts/${draft.id}/preview-links`, {});
  const preview = await read(address);
  ok('a preview', [preview.status, preview.text.includes('<h1>Not yet</h1>'), preview.text.includes('Preview. Readers')], [200, true, true]);
  if (preview.headers) {
    const control = preview.headers.get('cache-control').split(', ');
    const kept = [control.includes('private'), control.includes('no-store'), preview.headers.get('referrer-policy')];
    ok('nobody keeps it', kept, [true, true, 'no-referrer']);
    ok('its cookie', preview.cookies.has(example.cookie), Boolean(example.cookie));
  }
  const elsewhere = new URL(address);
  for (const path of ['/nothing-like-it/', new URL(posts[0].link).pathname, '//example.org/']) {
    elsewhere.searchParams.set('path', path);
    const refused = await read(elsewhere.href);
    ok(`a preview at ${path}`, [refused.status >= 400, new URL(refused.address).origin], [true, front]);
  }
}

/** What takes a script: a link, the page of nothing under Next, and a preview that shows what is saved, in a tab of the console. */
async function watch() {
  const heading = 'return document.querySelector("h1")?.textContent === arguments[0]';
  await browser.open(front);
  await browser.until('the first page has no list', 'return document.querySelector("article a")');
  await browser.run('document.querySelector("article a").click()');
  await browser.until('the link leads nowhere', heading, 'Day 12');
  console.log('ok a link');

  await browser.open('about:blank');
  await browser.open(new URL(example.at('/nothing-like-it/'), front).href);
  await browser.until('the page of nothing is not shown', heading, 'Not found');
  console.log('ok the page of nothing');

  const { address } = await make(`wp/v2/posts/${draft.id}/preview-links`, {});
  await browser.open(`${rest}/`);
  const console_ = await browser.drive('GET', '/window');
  await browser.run('globalThis.tab = open(arguments[0])', address);
  const [tab] = (await browser.drive('GET', '/window/handles')).filter((handle) => handle !== console_);
  const go = (handle) => browser.drive('POST', '/window', { handle });
  await go(tab);
  await browser.until('the preview is not shown', heading, 'Not yet');
  await make(`wp/v2/posts/${draft.id}`, { title: 'Almost' });
  // Until its script listens, it hears nothing; and each message makes it begin again.
  let shown = false;
  for (let n = 0; n < 200 && !shown; n++) {
    if (n % 20 === 0) {
      await go(console_);
      await browser.run('tab.postMessage({ type: "cms-server:changed", id: arguments[0] }, arguments[1])', draft.id, front);
      await go(tab);
    }
    await new Promise((done) => setTimeout(done, 100));
    shown = await browser.run(heading, 'Almost');
  }
  ok('a preview that follows changes', shown, true);

  if (!example.refreshes) return;
  await go(console_);
  await browser.run(`
    addEventListener('message', ({ origin, data }) => (globalThis.told = [origin, data.type]));
    document.body.append(Object.assign(document.createElement('iframe'), { src: arguments[0] }));`, address);
  ok('what it tells the pane', await browser.until('the pane is told nothing', 'return globalThis.told'), [front, 'cms-server:refreshes']);
}
