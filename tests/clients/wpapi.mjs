// The unmodified client wpapi 1.2 (npm) against a running server: discovery, every resource, paging, embedding, upload.
//
// Usage: node wpapi.mjs SITE LOGIN PASSWORD NODE_MODULES

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { deflateSync, crc32 } from 'node:zlib';

const [site, login, password, modules] = process.argv.slice(2);
const WPAPI = createRequire(join(resolve(modules), 'x.js'))('wpapi');

function ok(what, found, expected) {
	assert.deepEqual(found, expected, what);
	console.log(`ok ${what}`);
}

async function refused(what, promise, code, status) {
	const error = await promise.then(() => ({ code: 'nothing refused' }), (error) => error);
	ok(what, [error.code, error.data && error.data.status], [code, status]);
}

// The smallest picture: one red dot.
function picture() {
	const number = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n >>> 0); return b; };
	const chunk = (name, data) => {
		const body = Buffer.concat([Buffer.from(name), data]);
		return Buffer.concat([number(data.length), body, number(crc32(body))]);
	};
	const head = Buffer.concat([number(1), number(1), Buffer.from([8, 2, 0, 0, 0])]);
	return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head),
		chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))), chunk('IEND', Buffer.alloc(0))]);
}

// Discovery reads the home page's `Link` header and builds the client from the index.
const found = await WPAPI.discover(site);
ok('discovery builds a client', typeof found.posts, 'function');
ok('the index', (await found.root().get()).url, site);
const wp = await WPAPI.discover(site);
wp.auth({ username: login, password });
const stranger = new WPAPI({ endpoint: `${site}/wp-json` });

// Posts
const made = await wp.posts().create({ title: 'One', content: 'Text', status: 'publish', excerpt: 'Short' });
ok('create', [made.title.raw, made.status], ['One', 'publish']);
ok('a stranger reads', (await stranger.posts().id(made.id)).title.rendered, 'One');
ok('update', (await wp.posts().id(made.id).update({ title: 'Two' })).title.raw, 'Two');
ok('by slug', (await stranger.posts().slug('one')).map((p) => p.id), [made.id]);
await refused('a stranger does not write', stranger.posts().create({ title: 'No' }), 'rest_cannot_create', 401);
await refused('nothing there', stranger.posts().id(999999), 'rest_post_invalid_id', 404);
for (let n = 0; n < 5; n++) {
	await wp.posts().create({ title: `More ${n}`, status: 'publish', date: `2020-01-0${n + 1}T00:00:00` });
}
const page = await stranger.posts().perPage(2).orderby('title').order('asc');
ok('first page', page.map((p) => p.title.rendered), ['More 0', 'More 1']);
ok('paging', [page._paging.total, page._paging.totalPages, Object.keys(page._paging.links).sort()], [6, 3, ['https://api.w.org/', 'next']]);
const next = await page._paging.next;
ok('next page', next.map((p) => p.title.rendered), ['More 2', 'More 3']);
ok('and back', (await next._paging.prev).map((p) => p.title.rendered), ['More 0', 'More 1']);
ok('search', (await stranger.posts().search('Two')).length, 1);
ok('after and before', (await stranger.posts().after('2020-01-02T12:00:00').before('2020-01-04T12:00:00')).length, 2);
ok('include', (await stranger.posts().include([made.id])).length, 1);
ok('exclude', (await stranger.posts().exclude([made.id])).length, 5);
ok('HEAD', (await stranger.posts().headers())['x-wp-total'], '6');
ok('param', (await stranger.posts().param('_fields', 'id').perPage(1)).map(Object.keys), [['id']]);
const embedded = await wp.posts().id(made.id).embed();
ok('embedding', embedded._embedded.author[0].name, login);
ok('revisions', (await wp.posts().id(made.id).revisions()).length > 0, true);

// Terms
const category = await wp.categories().create({ name: 'Lamps', description: 'd' });
const tag = await wp.tags().create({ name: 'oil' });
ok('terms of a post', (await wp.posts().id(made.id).update({ categories: [category.id], tags: [tag.id] })).tags, [tag.id]);
ok('posts of a term', (await stranger.posts().categories(category.id)).map((p) => p.id), [made.id]);
ok('terms of a post, listed', (await stranger.tags().post(made.id)).map((t) => t.name), ['oil']);
ok('update a term', (await wp.categories().id(category.id).update({ name: 'Lights' })).name, 'Lights');
await refused('the same again', wp.tags().create({ name: 'oil' }), 'term_exists', 400);
ok('delete a term', (await wp.tags().id(tag.id).delete({ force: true })).deleted, true);

// Pages, comments, people
const parent = await wp.pages().create({ title: 'Above', status: 'publish' });
const child = await wp.pages().create({ title: 'Below', status: 'publish', parent: parent.id });
ok('pages below', (await stranger.pages().parent(parent.id)).map((p) => p.id), [child.id]);
const comment = await wp.comments().create({ post: made.id, content: 'Bright' });
ok('comments', (await stranger.comments().forPost(made.id)).map((c) => c.id), [comment.id]);
ok('edit a comment', (await wp.comments().id(comment.id).update({ content: 'Brighter' })).content.raw, 'Brighter');
ok('delete a comment', (await wp.comments().id(comment.id).delete({ force: true })).deleted, true);
ok('who am I', (await wp.users().me()).name, login);
await refused('a stranger is nobody', stranger.users().me(), 'rest_not_logged_in', 401);
const user = await wp.users().create({ username: 'ada', email: 'ada@example.com', password: 'a long one', roles: ['author'] });
ok('update a user', (await wp.users().id(user.id).update({ name: 'Ada' })).name, 'Ada');
ok('delete a user', (await wp.users().id(user.id).delete({ force: true, reassign: 1 })).deleted, true);
ok('settings', (await wp.settings().update({ title: 'Lamps' })).title, 'Lamps');

// Files
const file = await wp.media().file(picture(), 'dot.png').create({ title: 'A dot', alt_text: 'red' });
ok('upload', [file.title.raw, file.alt_text, file.mime_type, file.media_details.width], ['A dot', 'red', 'image/png', 1]);
ok('update a file', (await wp.media().id(file.id).update({ caption: 'c' })).caption.raw, 'c');
const pictured = await wp.posts().id(made.id).update({ featured_media: file.id });
ok('featured', pictured.featured_media, file.id);
ok('embedded file', (await stranger.posts().id(made.id).embed())._embedded['wp:featuredmedia'][0].source_url, file.source_url);
ok('the file itself', (await fetch(file.source_url)).status, 200);
ok('delete a file', (await wp.media().id(file.id).delete({ force: true })).deleted, true);

// What there is
ok('types', (await stranger.types()).post.rest_base, 'posts');
ok('type', (await stranger.types().type('page')).slug, 'page');
ok('taxonomies', Object.keys(await stranger.taxonomies()).includes('category'), true);
ok('statuses', Object.keys(await wp.statuses()).includes('draft'), true);

// Routes that the client learns by their patterns
wp.blocks = wp.registerRoute('wp/v2', '/blocks/(?P<id>[\\d]+)');
const block = await wp.blocks().create({ title: 'B', content: '<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->', status: 'publish' });
ok('a route of one\'s own', (await wp.blocks().id(block.id)).title.raw, 'B');

// First the trash, then gone
ok('to the trash', (await wp.posts().id(made.id).delete()).status, 'trash');
ok('gone', (await wp.posts().id(made.id).delete({ force: true })).deleted, true);
