// The unmodified @wordpress/core-data over @wordpress/api-fetch (npm) against a running server: records of all kinds read,
// edited, saved in batches and deleted, permissions, totals, revisions, uploads.
//
// Usage: node coredata.cjs SITE LOGIN PASSWORD NODE_MODULES

const assert = require('node:assert/strict');
const { createRequire } = require('node:module');
const { join, resolve } = require('node:path');
const { deflateSync, crc32 } = require('node:zlib');

const [site, login, password, modules] = process.argv.slice(2);
const load = createRequire(join(resolve(modules), 'x.js'));

// The packages expect a browser around them.
const { JSDOM, VirtualConsole } = load('jsdom');
const { window } = new JSDOM('<!doctype html><body></body>', {
	url: `${site}/`, pretendToBeVisual: true, virtualConsole: new VirtualConsole(),
});
window.matchMedia = () => ({ matches: false, addListener() {}, removeListener() {}, addEventListener() {}, removeEventListener() {} });
window.fetch = fetch;
globalThis.window = window;
for (const name of ['document', 'navigator', 'Node', 'Element', 'HTMLElement', 'DOMParser', 'MutationObserver', 'CustomEvent',
	'getComputedStyle', 'requestAnimationFrame', 'cancelAnimationFrame', 'HTMLAnchorElement', 'HTMLIFrameElement', 'Range',
	'Selection', 'DocumentFragment', 'customElements', 'CSS', 'SVGElement', 'matchMedia']) {
	if (!(name in globalThis)) {
		Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });
	}
}

const apiFetch = load('@wordpress/api-fetch').default;
const { store } = load('@wordpress/core-data');
const data = load('@wordpress/data');

let credentials = `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
apiFetch.use((options, next) => next({ ...options, headers: { ...options.headers, Authorization: credentials } }));
apiFetch.use(apiFetch.createRootURLMiddleware(`${site}/wp-json/`));

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

async function main() {
	const ask = data.resolveSelect(store), now = data.select(store), act = data.dispatch(store);
	const firm = { throwOnError: true };
	const fresh = () => act.invalidateResolutionForStore();

	// What there is
	ok('current user', (await ask.getCurrentUser()).name, login);
	ok('types', (await ask.getEntityRecords('root', 'postType', { per_page: -1 })).some((type) => type.slug === 'page'), true);
	ok('type', (await ask.getPostType('post')).rest_base, 'posts');
	ok('taxonomies', (await ask.getEntityRecords('root', 'taxonomy', { per_page: -1 })).some((tax) => tax.slug === 'category'), true);
	ok('statuses', (await ask.getEntityRecords('root', 'status')).some((status) => status.slug === 'draft'), true);
	ok('theme', typeof (await ask.getCurrentTheme()).stylesheet, 'string');

	// A post
	const post = await act.saveEntityRecord('postType', 'post', { title: 'One', content: '<!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph -->', status: 'publish' }, firm);
	ok('save', [post.title.raw, post.status], ['One', 'publish']);
	act.editEntityRecord('postType', 'post', post.id, { title: 'Two', content: '<!-- wp:paragraph -->\n<p>b</p>\n<!-- /wp:paragraph -->' });
	ok('edits are known', now.hasEditsForEntityRecord('postType', 'post', post.id), true);
	await act.saveEditedEntityRecord('postType', 'post', post.id, firm);
	ok('save edits', now.getEntityRecord('postType', 'post', post.id).title.raw, 'Two');
	await fresh();
	ok('read', (await ask.getEntityRecord('postType', 'post', post.id)).content.raw, '<!-- wp:paragraph -->\n<p>b</p>\n<!-- /wp:paragraph -->');
	ok('rendered without block comments', (await ask.getEntityRecord('postType', 'post', post.id)).content.rendered.includes('wp:'), false);
	ok('revisions', (await ask.getRevisions('postType', 'post', post.id, { per_page: 10, context: 'edit' })).length > 0, true);
	await act.saveEntityRecord('postType', 'post', { id: post.id, title: 'Not yet' }, { ...firm, isAutosave: true });
	await fresh();
	ok('an autosave leaves the post alone', (await ask.getEntityRecord('postType', 'post', post.id)).title.raw, 'Two');
	ok('and is found', (await ask.getAutosaves('post', post.id)).map((save) => save.title.raw), ['Not yet']);

	// What one may
	ok('may create', await ask.canUser('create', { kind: 'postType', name: 'post' }), true);
	ok('may update', await ask.canUser('update', { kind: 'postType', name: 'post', id: post.id }), true);
	ok('may delete', await ask.canUser('delete', { kind: 'postType', name: 'post', id: post.id }), true);
	ok('may upload', await ask.canUser('create', { kind: 'postType', name: 'attachment' }), true);
	ok('may change settings', await ask.canUser('update', { kind: 'root', name: 'site' }), true);

	// Terms: more than a page of them, made in batches
	for (let from = 0; from < 120; from += 20) {
		const calls = Array.from({ length: 20 }, (_, n) => ({ saveEntityRecord }) =>
			saveEntityRecord('taxonomy', 'post_tag', { name: `Tag ${String(from + n).padStart(3, '0')}` }, firm));
		await act.__experimentalBatch(calls);
	}
	await fresh();
	const all = await ask.getEntityRecords('taxonomy', 'post_tag', { per_page: -1, orderby: 'name', order: 'asc' });
	ok('all of more than a page', [all.length, all[119].name], [120, 'Tag 119']);
	await ask.getEntityRecords('taxonomy', 'post_tag', { per_page: 50 });
	ok('totals', [now.getEntityRecordsTotalItems('taxonomy', 'post_tag', { per_page: 50 }), now.getEntityRecordsTotalPages('taxonomy', 'post_tag', { per_page: 50 })], [120, 3]);
	ok('search', (await ask.getEntityRecords('taxonomy', 'post_tag', { search: 'Tag 07', per_page: 100 })).length, 10);
	const category = await act.saveEntityRecord('taxonomy', 'category', { name: 'Lamps' }, firm);
	act.editEntityRecord('postType', 'post', post.id, { categories: [category.id], tags: [all[0].id, all[1].id] });
	await act.saveEditedEntityRecord('postType', 'post', post.id, firm);
	ok('terms of a post', now.getEntityRecord('postType', 'post', post.id).tags, [all[0].id, all[1].id]);
	ok('posts of a term', (await ask.getEntityRecords('postType', 'post', { categories: [category.id] })).map((p) => p.id), [post.id]);

	// Lists
	const draft = await act.saveEntityRecord('postType', 'post', { title: 'Three', status: 'draft' }, firm);
	ok('states', (await ask.getEntityRecords('postType', 'post', { status: ['draft', 'publish'], orderby: 'id', order: 'asc' })).map((p) => p.id), [post.id, draft.id]);
	ok('order of asking', (await ask.getEntityRecords('postType', 'post', { include: [draft.id, post.id], orderby: 'include', status: 'any' })).map((p) => p.id), [draft.id, post.id]);
	ok('fields', (await ask.getEntityRecords('postType', 'post', { _fields: 'id,title', per_page: 100 })).map((p) => Object.keys(p).sort()), [['id', 'title']]);

	// Pages, blocks, comments, people
	const page = await act.saveEntityRecord('postType', 'page', { title: 'Page', status: 'publish' }, firm);
	const below = await act.saveEntityRecord('postType', 'page', { title: 'Below', parent: page.id, status: 'publish' }, firm);
	ok('pages below', (await ask.getEntityRecords('postType', 'page', { parent: page.id })).map((p) => p.id), [below.id]);
	const block = await act.saveEntityRecord('postType', 'wp_block', { title: 'Block', content: '<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->', status: 'publish' }, firm);
	ok('blocks', (await ask.getEntityRecords('postType', 'wp_block', { per_page: -1 })).map((b) => b.id), [block.id]);
	const comment = await act.saveEntityRecord('root', 'comment', { post: post.id, content: 'Bright' }, firm);
	ok('comments', (await ask.getEntityRecords('root', 'comment', { post: post.id })).map((c) => c.id), [comment.id]);
	await act.deleteEntityRecord('root', 'comment', comment.id, { force: true }, firm);
	ok('users', (await ask.getEntityRecords('root', 'user', { who: 'authors', per_page: 100 })).map((u) => u.name), [login]);
	const user = await act.saveEntityRecord('root', 'user', { username: 'ada', email: 'ada@example.com', password: 'a long one', roles: ['author'] }, firm);
	act.editEntityRecord('root', 'user', user.id, { first_name: 'Ada' });
	await act.saveEditedEntityRecord('root', 'user', user.id, firm);
	ok('edit a user', now.getEntityRecord('root', 'user', user.id).first_name, 'Ada');

	// The site
	await ask.getEntityRecord('root', 'site');
	act.editEntityRecord('root', 'site', undefined, { title: 'Lamps', description: 'and oil' });
	await act.__experimentalSaveSpecifiedEntityEdits('root', 'site', undefined, ['title'], firm);
	await fresh();
	const settings = await ask.getEntityRecord('root', 'site');
	ok('some settings are saved, others stay', [settings.title, settings.description], ['Lamps', '']);
	ok('what anybody sees of the site', (await ask.getEntityRecord('root', '__unstableBase')).name, 'Lamps');

	// Files, through the middleware for uploads
	const form = new FormData();
	form.append('file', new File([picture()], 'dot.png', { type: 'image/png' }));
	form.append('title', 'A dot');
	const file = await apiFetch({ path: '/wp/v2/media', method: 'POST', body: form });
	ok('upload', [file.title.raw, file.mime_type], ['A dot', 'image/png']);
	await ask.getEntityRecord('postType', 'attachment', file.id);
	act.editEntityRecord('postType', 'attachment', file.id, { alt_text: 'red' });
	await act.saveEditedEntityRecord('postType', 'attachment', file.id, firm);
	ok('edit a file', now.getEntityRecord('postType', 'attachment', file.id).alt_text, 'red');
	act.editEntityRecord('postType', 'post', post.id, { featured_media: file.id });
	await act.saveEditedEntityRecord('postType', 'post', post.id, firm);
	ok('featured', now.getEntityRecord('postType', 'post', post.id).featured_media, file.id);

	// Refusals reach the caller as they are
	const refusal = await act.saveEntityRecord('taxonomy', 'category', { name: 'Lamps' }, firm).then(() => null, (error) => error);
	ok('the same again', [refusal.code, refusal.data.term_id], ['term_exists', category.id]);
	const missing = await apiFetch({ path: '/wp/v2/posts/999999' }).then(() => null, (error) => error);
	ok('nothing there', missing.code, 'rest_post_invalid_id');
	const raw = await apiFetch({ path: '/wp/v2/posts?per_page=1&page=2', parse: false }).then(() => null, (response) => response);
	ok('a page too far', raw.status, 400);

	// First the trash, then gone
	await act.deleteEntityRecord('postType', 'post', draft.id, {}, firm);
	await act.deleteEntityRecord('postType', 'post', draft.id, { force: true }, firm);
	ok('deleted', (await ask.getEntityRecords('postType', 'post', { status: 'any', per_page: -1 })).map((p) => p.id), [post.id]);

	// An anonymous caller
	credentials = '';
	await fresh();
	ok('a stranger may not create', await ask.canUser('create', { kind: 'postType', name: 'post' }), false);
	ok('nor update', await ask.canUser('update', { kind: 'postType', name: 'post', id: post.id }), false);
}

main().then(() => process.exit(0), (error) => {
	console.error(error);
	process.exit(1);
});
