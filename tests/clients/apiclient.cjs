// The unmodified wordpress-api-client (npm) against a running server: addresses with slashes at their ends, whole lists,
// uploads as plain bodies, application passwords, reusable blocks.
//
// Usage: node apiclient.cjs SITE LOGIN PASSWORD NODE_MODULES

const assert = require('node:assert/strict');
const { createRequire } = require('node:module');
const { join, resolve } = require('node:path');
const { deflateSync, crc32 } = require('node:zlib');

const [site, login, password, modules] = process.argv.slice(2);
const { default: WpApiClient } = createRequire(join(resolve(modules), 'x.js'))('wordpress-api-client');

function ok(what, found, expected) {
	assert.deepEqual(found, expected, what);
	console.log(`ok ${what}`);
}

// The smallest picture: one red dot.
function picture() {
	const number = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n >>> 0); return b; };
	const chunk = (name, body) => {
		const whole = Buffer.concat([Buffer.from(name), body]);
		return Buffer.concat([number(body.length), whole, number(crc32(whole))]);
	};
	const head = Buffer.concat([number(1), number(1), Buffer.from([8, 2, 0, 0, 0])]);
	return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head),
		chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))), chunk('IEND', Buffer.alloc(0))]);
}

// The client writes what it would read.
const shown = (rendered) => ({ rendered });

async function main() {
	const wp = new WpApiClient(site, { auth: { type: 'basic', username: login, password } });
	const stranger = new WpApiClient(site);

	const made = await wp.post().create({ title: shown('One'), content: shown('Text'), status: 'publish' });
	ok('create', made.title.raw, 'One');
	ok('update', (await wp.post().update({ title: shown('Two') }, made.id)).title.raw, 'Two');
	for (let n = 0; n < 12; n++) await wp.post().create({ title: shown(`More ${n}`), status: 'publish' });
	ok('find', (await stranger.post().find()).length, 13);
	ok('find one', (await stranger.post().find(made.id))[0].title.rendered, 'Two');
	ok('find some', (await stranger.post().find(new URLSearchParams({ per_page: '3', order: 'asc', orderby: 'title' })))
		.map((p) => p.title.rendered), ['More 0', 'More 1', 'More 10']);
	ok('find all', (await stranger.post().dangerouslyFindAll()).length, 13);
	ok('revisions', (await wp.post().revision(made.id).find()).length > 0, true);

	const category = await wp.postCategory().create({ name: 'Lamps' });
	const tag = await wp.postTag().create({ name: 'oil' });
	await wp.post().update({ categories: [category.id], tags: [tag.id] }, made.id);
	ok('categories', (await stranger.postCategory().find()).map((c) => c.name).sort(), ['Lamps', 'Uncategorized']);
	ok('delete a term', (await wp.postTag().delete(tag.id))[0].deleted, true);
	const page = await wp.page().create({ title: shown('Page'), status: 'publish' });
	ok('pages', (await stranger.page().find(page.id))[0].slug, 'page');
	const comment = await wp.comment().create({ post: made.id, content: shown('Bright') });
	ok('comments', (await stranger.comment().find())[0].id, comment.id);
	const block = await wp.reusableBlock().create({ title: shown('Block'), content: shown('<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->'), status: 'publish' });
	ok('blocks', (await wp.reusableBlock().find()).map((b) => b.id), [block.id]);
	const saved = await wp.reusableBlock().autosave(block.id).create({ title: shown('Not yet'), content: shown('y') });
	ok('autosaves of a block', (await wp.reusableBlock().autosave(block.id).find()).map((s) => s.id), [saved.id]);
	ok('search', (await stranger.search('Two')).map((found) => found.id), [made.id]);
	ok('settings', (await wp.siteSettings().update({ title: 'Lamps' })).title, 'Lamps');
	ok('settings again', (await wp.siteSettings().find()).title, 'Lamps');
	ok('status', (await stranger.status('publish')).slug, 'publish');
	ok('statuses', Object.keys(await stranger.status()), ['publish']);
	ok('types', (await stranger.postType()).page.rest_base, 'pages');
	ok('taxonomies', (await stranger.taxonomy('category', 'post_tag')).map((t) => t.rest_base), ['categories', 'tags']);
	ok('themes', (await wp.theme()).some((theme) => theme.status === 'active'), true);

	const file = await wp.media().create('dot.png', picture(), 'image/png', { alt_text: 'red' });
	ok('upload', [file.mime_type, file.alt_text], ['image/png', 'red']);
	ok('files', (await stranger.media().find(file.id))[0].source_url, file.source_url);
	ok('delete a file', (await wp.media().delete(file.id))[0].deleted, true);

	const me = await wp.user().findMe();
	ok('who am I', me.name, login);
	const user = await wp.user().create({ username: 'ada', email: 'ada@example.com', password: 'a long one' });
	ok('delete a user', (await wp.user().delete(me.id, user.id))[0].deleted, true);
	const secret = await wp.applicationPassword().create(me.id, '8d1f4e2a-6d55-4d0e-9a53-5f0f2f4c9b11', 'laptop');
	const other = new WpApiClient(site, { auth: { type: 'basic', username: login, password: secret.password } });
	ok('a new password works', (await other.user().findMe()).id, me.id);
	ok('rename it', (await wp.applicationPassword().update(me.id, secret.uuid, undefined, 'desk')).name, 'desk');
	ok('revoke it', (await wp.applicationPassword().delete(me.id, secret.uuid)).deleted, true);
	const refused = await other.user().findMe().then(() => null, (error) => error);
	ok('a revoked one does not', refused !== null, true);

	ok('to the trash', (await wp.post().delete(made.id))[0].status, 'trash');
}

main().then(() => process.exit(0), (error) => {
	console.error(error);
	process.exit(1);
});
