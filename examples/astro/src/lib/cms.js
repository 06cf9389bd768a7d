// Everything that this site asks of the server: where it is, a document, a list, a menu.

/** The address of the REST interface, such as https://cms.example.org/wp-json. */
const base = process.env.CMS_URL ?? 'http://127.0.0.1:8080/wp-json';

/** The prefix of the site, `cms` or `wp`: it is in routes, headers and link relations. */
export const prefix = /([a-z]+)-json$/.exec(base)[1];

/** Where editors write; messages from there alone make a preview load again. */
export const origin = new URL(base).origin;

/** An answer of the server; `null` for what is not there, and for a preview whose token is not good. */
async function ask(address, options = {}) {
  const answer = await fetch(address, options);
  if (answer.status === 404 || answer.status === 401) return null;
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** What pages show of an address, and of the document there: the content as its blocks. */
const FIELDS = [
  ...['kind', 'id', 'rest', 'link', 'canonical', 'page', 'status', 'location'],
  ...['type', 'title', 'name', 'date', 'content.blocks', '_links'].map((name) => `record.${name}`),
];

/**
 * What is at a path: a record, a term, an author, a month, a redirect; `null` for nothing. The document comes with it. A
 * preview shows the record of its token as it is being edited, and no cache keeps that.
 */
export async function resolve(path, token) {
  const query = new URLSearchParams({ path, _embed: 'record', _fields: FIELDS.join() });
  if (token) query.set('preview', token);
  const answer = await ask(`${base}/server/v1/resolve?${query}`, token ? { cache: 'no-store' } : {});
  return answer && (await answer.json());
}

/** The document of a resolved address; nothing where there is none. */
export const document = (found) => found?._embedded?.record?.[0];

/** A page of a list: its items, and how many pages there are. */
export async function list(address, query = {}) {
  const url = new URL(address.includes('://') ? address : `${base}${address}`);
  for (const [name, value] of Object.entries({ per_page: 10, ...query })) url.searchParams.set(name, value);
  const answer = await ask(url);
  if (!answer) return { items: [], pages: 0 };
  return { items: await answer.json(), pages: Number(answer.headers.get(`X-${prefix}-TotalPages`) ?? 1) };
}

/** The items of a menu as a tree, by its place or its slug; an empty list without such a menu. */
export async function menu(name) {
  const answer = await ask(`${base}/server/v1/menus/${encodeURIComponent(name)}`);
  return answer ? (await answer.json()).items : [];
}

/** The name of the site. */
export async function site() {
  return (await ask(`${base}/?_fields=name,description`)).json();
}
