// A site of Astro's over the server: filled here, built as its owner would build it, and read as a visitor would.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const [site, login, password, folder] = process.argv.slice(2);
const credentials = `${login}:${password}`;

async function make(route, body, headers = { 'Content-Type': 'application/json' }) {
  const sent = headers['Content-Type'] === 'application/json' ? JSON.stringify(body) : body;
  const answer = await fetch(`${site}/wp-json/wp/v2/${route}`, {
    method: 'POST',
    headers: { ...headers, Authorization: `Basic ${btoa(credentials)}` },
    body: sent,
  });
  const made = await answer.json();
  assert.equal(answer.status, 201, `${route}: ${JSON.stringify(made)}`);
  return made;
}

// One red pixel, as PNG.
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
);
const picture = await make('media', pixel, { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename=red.png' });
await fetch(`${site}/wp-json/wp/v2/media/${picture.id}`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(credentials)}` },
  body: JSON.stringify({ alt_text: 'A red dot' }),
});
const harbour = await make('categories', { name: 'Harbour & boats' });
const posts = [];
for (let n = 1; n <= 12; n++) {
  posts.push(
    await make('posts', {
      title: `Day ${n} at the ${n % 2 ? 'pier' : 'beach'}`,
      content: `<!-- wp:paragraph -->\n<p>What was seen on day ${n}.</p>\n<!-- /wp:paragraph -->`,
      status: 'publish',
      date: `2024-03-${String(n).padStart(2, '0')}T08:00:00`,
      categories: n <= 7 ? [harbour.id] : [],
      featured_media: n === 12 ? picture.id : 0,
    }),
  );
}
const menu = await make('menus', { name: 'Main' });
const top = await make('menu-items', { title: 'Harbour', type: 'taxonomy', object: 'category', object_id: harbour.id, menus: menu.id, status: 'publish' });
await make('menu-items', { title: 'First day', type: 'post_type', object: 'post', object_id: posts[0].id, parent: top.id, menu_order: 2, menus: menu.id, status: 'publish' });

const built = spawnSync(process.execPath, ['../node_modules/astro/astro.js', 'build'], {
  cwd: folder,
  env: { ...process.env, WORDPRESS_URL: site, WORDPRESS_PASSWORD: credentials, ASTRO_TELEMETRY_DISABLED: '1' },
  encoding: 'utf8',
});
assert.equal(built.status, 0, built.stdout + built.stderr);

const page = (path) => readFileSync(`${folder}/dist/${path}`, 'utf8');
const count = (text, what) => text.split(what).length - 1;
assert.equal(count(page('index.html'), '<article>'), 5);
assert.equal(count(page('3/index.html'), '<article>'), 2);
assert.ok(page('2/index.html').includes('rel="next"') && !existsSync(`${folder}/dist/4/index.html`));
assert.ok(page('index.html').includes('Day 12 at the beach') && page('index.html').includes('<p class="by">admin</p>'));
const first = page(`posts/${posts[11].slug}/index.html`);
assert.ok(first.includes('<p class="wp-block-paragraph">What was seen on day 12.</p>') && first.includes('alt="A red dot"'), first);
const source = first.match(/<img src="([^"]+)"/)[1];
const file = await fetch(source);
assert.deepEqual([file.status, file.headers.get('content-type')], [200, 'image/png']);
const category = page(`category/${harbour.slug}/index.html`);
assert.ok(category.includes('<h1>Harbour &amp; boats</h1>') && category.includes('<p class="count">7</p>'), category);
assert.equal(count(category, 'class="post"'), 7);
assert.equal(count(page('search/pier/index.html'), 'class="hit"'), 6);
assert.equal(count(page('search/nothing-like-it/index.html'), 'class="hit"'), 0);
for (const where of ['index.html', 'search/pier/index.html']) {
  const menu = page(where).match(/<nav>.*<\/nav>/s)[0];
  assert.ok(menu.includes(`href="${site}/category/${harbour.slug}/"`) && menu.includes('First day'), menu);
  assert.ok(menu.indexOf('Harbour') < menu.indexOf('First day') && count(menu, '<ul>') === 2, menu);
}
console.log('a site of Astro: 3 pages of an archive, 12 records, a category, a search, a picture, a menu');
