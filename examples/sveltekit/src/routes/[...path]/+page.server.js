// Every address of the site: the server says what is there.
import { document, list, origin, prefix, resolve } from '$lib/server/cms.js';
import { error, redirect } from '@sveltejs/kit';

export async function load({ url, setHeaders }) {
  const token = url.searchParams.get('preview');
  // A preview is for one reader, and its address holds the token.
  if (token) setHeaders({ 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'no-referrer' });
  // Addresses by number, such as /?p=12, are read as they are.
  const query = new URLSearchParams([...url.searchParams].filter(([name]) => !['preview', 'page'].includes(name)));
  const found = await resolve(query.size ? `${url.pathname}?${query}` : url.pathname, token);

  if (!found) error(404, 'Not found');
  if (found.kind === 'redirect' && !found.location) error(found.status, 'Gone');
  if (found.kind === 'redirect') redirect(found.status, found.location);
  if (!token && found.canonical === false) redirect(301, found.link);

  const item = document(found);
  const title = item ? (item.title?.rendered ?? item.name) : null;
  if (item?.content) return { title, item, preview: token ? { origin } : null };
  // The records of what is there: `rest` of a month or of the first page is the list itself.
  const records = {
    term: () => item._links[`${prefix}:post_type`][0].href,
    author: () => `/${prefix}/v2/posts?author=${found.id}`,
  };
  const page = Math.max(1, found.page ?? (Number(url.searchParams.get('page')) || 1));
  return { title, page, listed: await list(records[found.kind]?.() ?? found.rest, { page }) };
}
