// The example of Astro over the server: built as its owner would build it, and read as a visitor and an editor would.
//
// Usage: node example.mjs SITE LOGIN PASSWORD FOLDER FRONT
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const [site, login, password, folder, front] = process.argv.slice(2);
const rest = `${site}/wp-json`;

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
<p>The <strong>old</strong> <a href="${site}/about/">harbour</a><a href="javascript:alert(1)">!</a></p>
<!-- /wp:paragraph -->
<!-- wp:list -->
<ul class="wp-block-list"><!-- wp:list-item -->
<li>ropes</li>
<!-- /wp:list-item --></ul>
<!-- /wp:list -->
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
const menu = await make('wp/v2/menus', { name: 'Main' });
await make('wp/v2/menu-items', { title: 'About us', type: 'post_type', object: 'page', object_id: about.id, menus: menu.id, status: 'publish' });
const draft = await make('wp/v2/posts', { title: 'Not yet', content, status: 'draft' });

const environment = { ...process.env, CMS_URL: rest, HOST: '127.0.0.1', PORT: new URL(front).port, ASTRO_TELEMETRY_DISABLED: '1' };
const built = spawnSync(process.execPath, ['../node_modules/astro/astro.js', 'build'], { cwd: folder, env: environment, encoding: 'utf8' });
assert.equal(built.status, 0, built.stdout + built.stderr);
const server = spawn(process.execPath, ['dist/server/entry.mjs'], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  await once(server.stdout, 'data');
  await visit();
} finally {
  server.kill();
}

async function visit() {
  const read = async (address) => {
    const answer = await fetch(new URL(address, front), { redirect: 'manual' });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const count = (text, what) => text.split(what).length - 1;

  const home = await read('/');
  ok('the first page', [home.status, count(home.text, '<article')], [200, 10]);
  ok('its menu', home.text.includes(`<a href="${about.link}">About us</a>`), true);
  const second = await read('/?page=2');
  ok('the second page', [count(second.text, '<article'), second.text.includes('rel="prev"')], [2, true]);

  const post = await read(posts[0].link);
  ok('a record by its address', [post.status, post.text.includes('<h1>Day 1</h1>')], [200, true]);
  ok('its blocks', [
    post.text.includes('<h2>Tides &amp; boats</h2>'),
    post.text.includes(`<p>The <strong>old</strong> <a href="${front}/about/">harbour</a><a>!</a></p>`),
    /<ul>\s*<li>\s*ropes\s*<\/li>\s*<\/ul>/.test(post.text),
    post.text.includes('<pre class="wp-block-verse">High and low</pre>'),
  ], [true, true, true, true]);
  const term = await read(harbour.link);
  ok('the records of a term', [term.status, count(term.text, '<article')], [200, 2]);
  const month = await read('/2024/03/');
  ok('the records of a month', [month.status, count(month.text, '<article')], [200, 10]);
  const author = await read('/author/admin/');
  ok('the records of an author', [author.status, count(author.text, '<article')], [200, 10]);
  ok('nothing', (await read('/nothing-like-it/')).status, 404);
  ok('a search', count((await read('/search?q=Day')).text, '<article'), 10);

  await make(`wp/v2/posts/${posts[1].id}`, { slug: 'second-day' });
  const old = await read(posts[1].link);
  ok('an address from before', [old.status, old.headers.get('location')], [301, posts[1].link.replace('day-2', 'second-day')]);
  ok('an address by number', (await read(`/?p=${posts[0].id}`)).headers.get('location'), posts[0].link);

  ok('a draft without a token', (await read(`/?p=${draft.id}`)).status, 404);
  const { address } = await make(`wp/v2/posts/${draft.id}/preview-links`, {});
  const to = await read(address);
  const preview = await read(to.headers.get('location'));
  ok('a preview', [preview.status, preview.text.includes('<h1>Not yet</h1>'), preview.headers.get('cache-control')], [200, true, 'private, no-store']);
  ok('a preview of another address', (await read(`/nothing-like-it/?preview=${new URL(address).searchParams.get('token')}`)).status, 404);
}
