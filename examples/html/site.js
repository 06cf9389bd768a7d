// The site: addresses are behind the `#`, such as /#/blog/first/, and the server says what is there.
import { Client, Failure } from './cms.js';
import { element, list, menu, record } from './elements.js';
import { plain } from './inline.js';

const base = document.querySelector('meta[name=cms]').content;
const cms = new Client({ base });
/** Where editors write; messages from there alone make a preview load again. */
const origin = new URL(base).origin;
const main = document.querySelector('main');

/** A response, or `null` for what is not there and for a preview whose token is not good. */
async function ask(operation, request) {
  try {
    return await cms.call(operation, request);
  } catch (error) {
    if (error instanceof Failure && [401, 404].includes(error.status)) return null;
    throw error;
  }
}

/** What pages show of an address, and of the document there: the content as its blocks. */
const FIELDS = [
  ...['kind', 'resource', 'id', 'rest', 'link', 'canonical', 'page', 'status', 'location'],
  ...['type', 'title', 'name', 'date', 'content.blocks'].map((name) => `record.${name}`),
];

/** The address that is asked for: behind the `#`, or of a preview, `site.front.preview` of the server. */
function asked() {
  const query = new URLSearchParams(location.search);
  const url = new URL(query.get('path') ?? (location.hash.slice(1) || '/'), location.origin);
  const page = Math.max(1, Number(url.searchParams.get('page')) || 1);
  url.searchParams.delete('page');
  return { url, page, token: query.get('preview') ?? undefined };
}

/** Goes to an address; those of this site stay in this page. */
function go(address) {
  const url = new URL(address, location.origin);
  location.replace(url.origin === location.origin ? `/#${url.pathname}${url.search}` : url);
}

/** A page of a list of records. */
async function listed(resource, query, page, url) {
  const found = await ask(`${resource}.list`, { query: { ...query, per_page: 10, page } });
  const to = (number) => {
    const next = new URL(url);
    next.searchParams.set('page', number);
    return next.href;
  };
  return list({ items: found?.data ?? [], pages: found?.pages ?? 0, page, to });
}

async function search(url, page) {
  const words = url.searchParams.get('q') ?? '';
  const label = element('label', {}, 'Words ', element('input', { name: 'q', value: words }));
  const form = element('form', {}, label, ' ', element('button', {}, 'Search'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    location.hash = `/search?${new URLSearchParams(new FormData(form))}`;
  });
  const results = words && (await listed('posts', { search: words }, page, url));
  return { title: 'Search', parts: [element('h1', {}, 'Search'), form, results] };
}

/** What an address shows: a title and the parts of the page; nothing where it leads elsewhere. */
async function shown({ url, page, token }) {
  if (url.pathname === '/search') return search(url, page);
  const answer = url.origin === location.origin && (await ask('resolve.get', {
    query: { path: url.pathname + url.search, ...(token && { preview: token }) },
    fields: FIELDS,
    embed: ['record'],
  }));
  const found = answer?.data;
  if (found?.kind === 'redirect' && found.location) return go(found.location);
  if (found?.canonical === false && !token) return go(found.link);
  const item = found?._embedded?.record?.[0];
  const title = plain(item?.title?.rendered ?? item?.name);
  if (item?.content) {
    const notice = token && element('p', { class: 'preview' }, 'Preview. Readers do not see this yet.');
    return { title, parts: [notice, record(item)] };
  }
  if (!found || found.kind === 'redirect') {
    const home = element('a', { href: '/' }, 'To the first page');
    return { title: 'Not found', parts: [element('h1', {}, 'Not found'), element('p', {}, 'There is nothing at this address. ', home)] };
  }
  // The records of what is there: `rest` of a month or of the first page is the list itself.
  const records = { term: { [found.resource]: found.id }, author: { author: found.id } };
  const query = records[found.kind] ?? Object.fromEntries(new URL(found.rest).searchParams);
  const resource = found.kind === 'archive' ? found.resource : 'posts';
  return { title, parts: [title && element('h1', {}, title), await listed(resource, query, found.page ?? page, url)] };
}

let turn = 0;
async function show() {
  const mine = ++turn;
  main.ariaBusy = 'true';
  const made = await shown(asked()).catch(({ message }) => {
    const title = 'That did not work';
    return { title, parts: [element('h1', {}, title), element('p', {}, message)] };
  });
  // Another address may have been asked for meanwhile.
  if (!made || mine !== turn) return;
  document.title = [made.title, name].filter(Boolean).join(' – ');
  main.replaceChildren(...made.parts.flat(Infinity).filter(Boolean));
  main.ariaBusy = 'false';
}

// Links to this site, wherever they are, are followed in this page.
addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || link.origin !== location.origin || link.target) return;
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.getAttribute('href').startsWith('#')) document.getElementById(link.hash.slice(1))?.scrollIntoView();
  else location.assign(`/#${link.pathname}${link.search}`);
});
addEventListener('hashchange', () => (scrollTo(0, 0), show()));
addEventListener('message', (event) => {
  if (event.origin === origin && event.data?.type === 'cms-server:changed') show();
});
// The console's pane need not load the page again.
if (parent !== window) parent.postMessage({ type: 'cms-server:refreshes' }, origin);

const [root, tree] = await Promise.all([ask('root.index', { fields: ['name'] }), ask('server.menus.get', { params: { menu: 'main' } })]);
const name = plain(root.data.name);
document.querySelector('header a').textContent = name;
if (tree?.data.items.length) document.querySelector('header nav').append(menu(tree.data.items));
await show();
