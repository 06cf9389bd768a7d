// The unmodified fetch strategies of @headstartwp/core (npm) against a running server: a record by its path, archives,
// searches, terms, a menu, a preview, what search engines are told.
//
// Usage: node headstart.mjs SITE LOGIN PASSWORD NODE_MODULES

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [site, login, password, modules] = process.argv.slice(2);
const headstart = createRequire(join(resolve(modules), 'x.js'))('@headstartwp/core');

function ok(what, found, expected) {
	assert.deepEqual(found, expected, what);
	console.log(`ok ${what}`);
}

async function make(route, body) {
	const headers = { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(`${login}:${password}`)}` };
	const answer = await fetch(`${site}/wp-json/${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
	const made = await answer.json();
	assert.ok(answer.ok, `${route}: ${JSON.stringify(made)}`);
	return made;
}

const harbour = await make('wp/v2/categories', { name: 'Harbour' });
const posts = [];
for (let n = 1; n <= 3; n++) {
	const body = { title: `Day ${n} at the pier`, content: 'Seen.', status: 'publish', date: `2024-03-0${n}T08:00:00`, categories: [harbour.id] };
	posts.push(await make('wp/v2/posts', body));
}
const page = await make('wp/v2/pages', { title: 'About', status: 'publish', content: 'We fish.' });
const draft = await make('wp/v2/posts', { title: 'Not yet', content: 'Soon.', status: 'draft' });
const menu = await make('wp/v2/menus', { name: 'Main' });
await make('wp/v2/menu-items', { title: 'Days', type: 'taxonomy', object: 'category', object_id: harbour.id, menus: menu.id, status: 'publish' });

headstart.setHeadstartWPConfig({ sourceUrl: site, useWordPressPlugin: false });

// What the hooks and the pages of Next do with a strategy.
async function ask(Strategy, path, params = {}, prepare = () => {}) {
	const strategy = new Strategy(site);
	prepare(strategy);
	const wanted = { ...strategy.getDefaultParams(), ...strategy.getParamsFromURL(path, params), ...params };
	const answer = await strategy.fetcher(strategy.buildEndpointURL(wanted), wanted);
	return strategy.prepareResponse(answer, wanted);
}

const { SinglePostFetchStrategy: Single, PostsArchiveFetchStrategy: Archive } = headstart;
const path = new URL(posts[1].link).pathname;
const single = await ask(Single, path);
ok('a post by its path', [single.result.id, single.result._embedded.author[0].slug], [posts[1].id, 'admin']);
ok('a page by its path', (await ask(Single, '/about', { postType: 'page' })).result.id, page.id);
await assert.rejects(ask(Single, '/nothing-like-it'), headstart.NotFoundError);
await assert.rejects(ask(Single, '/elsewhere/day-1-at-the-pier'), headstart.NotFoundError);

const archive = await ask(Archive, '/page/2', { per_page: 2 });
ok('the second page of an archive', [archive.result.map((post) => post.id), archive.pageInfo.totalPages, archive.pageInfo.totalItems], [[posts[0].id], 2, 3]);
const category = await ask(Archive, '/category/harbour', { taxonomy: 'category' });
ok('the archive of a category', [category.result.length, category.queriedObject.term.name], [3, 'Harbour']);
const author = await ask(Archive, '/author/admin');
ok('the archive of an author', [author.result.length, author.queriedObject.author.slug], [3, 'admin']);
const day = await ask(Archive, '/', { after: '2024-03-02T00:00:00', before: '2024-03-03T00:00:00' });
ok('the archive of a day', day.result.map((post) => post.id), [posts[1].id]);

const found = await ask(headstart.SearchNativeFetchStrategy, '/pier');
ok('a search', [found.result.length, found.result[0]._embedded.self[0].type], [3, 'post']);
ok('a search for nothing', (await ask(headstart.SearchNativeFetchStrategy, '/nothing-like-it')).result, []);
const terms = await ask(headstart.TaxonomyTermsStrategy, '/', { taxonomy: 'category' });
ok('terms', terms.result.map((term) => term.slug).sort(), ['harbour', 'uncategorized']);

const tree = await ask(headstart.AppSettingsStrategy, '/', {}, (strategy) => strategy.setEndpoint('/wp-json/server/v1/menus/main'));
ok('a menu', tree.result.items.map((item) => [item.title, item.url]), [['Days', harbour.link]]);

const preview = await make(`wp/v2/posts/${draft.id}/preview-links`, {});
const shown = await ask(Single, '/', { id: draft.id, preview: preview.token });
ok('a preview of a draft', [shown.result.id, shown.result.content.rendered.trim()], [draft.id, '<p>Soon.</p>']);
await assert.rejects(ask(Single, '/', { id: draft.id, preview: `${preview.token}x` }), headstart.EndpointError);

// What search engines are told, as the hooks and the components of Next read it.
const head = single.result.yoast_head_json;
ok('the head of a post', [head.title, head.og_type, head.canonical], [`Day 2 at the pier - ${head.og_site_name}`, 'article', posts[1].link]);
ok('the head as markup', single.result.yoast_head.includes(`<link rel="canonical" href="${posts[1].link}" />`), true);
ok('the graph', head.schema['@graph'].map((node) => node['@type']).slice(0, 3), ['Article', 'WebPage', 'WebSite']);
ok('the head of a category', category.queriedObject.term.yoast_head_json.title, `Harbour Archives - ${head.og_site_name}`);
ok('the head of an author', author.queriedObject.author.yoast_head_json.og_type, 'profile');
headstart.setHeadstartWPConfig({ sourceUrl: site, useWordPressPlugin: false, integrations: { yoastSEO: { enable: true } } });
const search = new headstart.SearchNativeFetchStrategy(site);
const wanted = { ...search.getDefaultParams(), ...search.getParamsFromURL('/pier') };
const told = (await search.fetcher(search.buildEndpointURL(wanted), wanted)).queriedObject.search;
ok('the head of a search', [told.yoast_head_json.title, told.yoast_head_json.robots.index], [`You searched for pier - ${head.og_site_name}`, 'noindex']);
ok('the head of a search as markup', told.yoast_head.startsWith('<title>You searched for pier'), true);
