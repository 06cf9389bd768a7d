// Random edits of a site over REST, and what is at its addresses afterwards: shared by the tests of sites that are built or kept
// elsewhere.
import assert from 'node:assert/strict';
import { data } from './isr/data.mjs';

/** A picture of one pixel. */
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/**
 * An editor of the site at `rest`: `begin` fills it, `edit` changes something, `paths` are addresses of readers and `fresh` says
 * what is there now. The edits follow from the seed.
 */
export function editor(rest, login, password, seed) {
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

  const posts = new Map();
  const pages = new Map();
  const trash = [];
  /** Where records are. */
  const places = new Map();
  const terms = { categories: [], tags: [] };
  const files = [];
  const comments = [];
  const paths = new Set(['/', '/author/admin/']);
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
      Object.assign(body, { featured_media: below(3) ? one(files) : 0, categories: some(terms.categories, 2), tags: some(terms.tags, 2), date: `202${below(4)}-0${1 + below(9)}-15T08:00:00` });
    }
    note(await ask('POST', `wp/v2/${kind}`, body), kind);
  }

  async function upload(name) {
    const headers = { 'Content-Type': 'image/png', 'Content-Disposition': `attachment; filename="${name}"`, Authorization: `Basic ${btoa(`${login}:${password}`)}` };
    const answer = await fetch(`${rest}/wp/v2/media`, { method: 'POST', headers, body: Buffer.from(PICTURE, 'base64') });
    const told = await answer.json();
    assert.ok(answer.ok, `${name}: ${JSON.stringify(told)}`);
    return told.id;
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
    [3, async () => {
      const post = one([...posts].filter(([, status]) => status === 'publish').map(([id]) => id));
      comments.push((await ask('POST', 'wp/v2/comments', { post, content: `Comment ${(made += 1)}` })).id);
    }],
    [2, async () => {
      if (comments.length === 0) return;
      const id = one(comments);
      // A comment in the trash with its post cannot be changed.
      await ask('POST', `wp/v2/comments/${id}`, { status: one(['approved', 'hold']), content: `Comment ${(made += 1)}` });
    }],
    [1, async () => ask('POST', `wp/v2/media/${one(files)}`, { alt_text: `Picture ${(made += 1)}` })],
    [1, async () => ask('POST', 'wp/v2/users/me', { name: `Anna ${(made += 1)}` })],
    // The scheduler publishes it.
    [1, async () => {
      const date_gmt = new Date(Date.now() + 1500).toISOString().slice(0, 19);
      const { id } = await ask('POST', 'wp/v2/posts', { title: `Later ${(made += 1)}`, status: 'future', date_gmt, tags: some(terms.tags, 2) });
      for (let n = 0; n < 400; n++) {
        const record = await ask('GET', `wp/v2/posts/${id}?context=edit`);
        note(record, 'posts');
        if (record.status === 'publish') return;
        await later(50);
      }
      assert.fail(`post ${id} is not published`);
    }],
  ];

  async function edit() {
    let at = below(EDITS.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, make] of EDITS) {
      if (at < weight) return make();
      at -= weight;
    }
  }

  async function begin() {
    for (let n = 0; n < 6; n++) await makeTerm(n % 2 ? 'tags' : 'categories', n === 4 ? terms.categories[0] : 0);
    for (let n = 0; n < 3; n++) files.push(await upload(`picture-${n}.png`));
    for (let n = 0; n < 30; n++) await create(n % 6 ? 'posts' : 'pages');
  }

  /** A change that concerns no page: the id of a new tag. */
  const mark = async () => (await ask('POST', 'wp/v2/tags', { name: `mark-${(made += 1)}` })).id;

  const now = (path) => data(rest, path, () => ({}));
  const fresh = (path) => visit(async (at) => JSON.stringify(await now(at)), path);

  return { ask, begin, edit, fresh, mark, now, paths };
}

export const later = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
export const pathOf = (link) => decodeURI(new URL(link).pathname);

/** What a visitor gets at a path: an address that a record had leads on, maybe by the ones that it had later. */
export async function visit(get, path) {
  for (let n = 0; ; n++) {
    const text = await get(path);
    const found = JSON.parse(text);
    if (found?.kind !== 'redirect' || n > 20) return text;
    path = pathOf(found.location);
  }
}
