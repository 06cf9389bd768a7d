// What a page shows, as JSON: what is at its address, and the records of a list. The test asks for the same, past every cache.

/** The address that an event names a page by: a list is named by its first page. */
export const named = (path) => path.replace(/\/page\/\d+\/?$/, '/').replace(/(.)\/$/, '$1');

/** The embedded resources of a record's page. */
const shown = 'author,replies,wp:featuredmedia,wp:term';

/** `options` gives those of each request: Next changes them. */
export async function data(base, path, options) {
  const ask = async (address, fields) => {
    const url = new URL(`${base}${address}`);
    url.searchParams.set('_fields', fields);
    const answer = await fetch(url, options());
    if (answer.status === 404) return null;
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const found = await ask(`/server/v1/resolve?path=${encodeURIComponent(path)}`, 'kind,id,rest,link,page,status,location');
  if (!found || found.kind === 'redirect') return found;
  const lists = { term: '/wp/v2/posts?tags=', author: '/wp/v2/posts?author=' };
  if (found.kind === 'term') lists.term = found.rest.includes('/categories/') ? '/wp/v2/posts?categories=' : lists.term;
  const own = found.rest.replace(base, '');
  if (lists[found.kind]) found.term = await ask(own, 'name,slug,link');
  else if (!own.includes('?') && !own.endsWith('/posts')) return { ...found, record: await ask(`${own}?_embed=${shown}`, `title,content,link,date,_links,_embedded`) };
  const list = lists[found.kind] ? `${lists[found.kind]}${found.id}` : own;
  const records = await ask(`${list}${list.includes('?') ? '&' : '?'}per_page=10&page=${found.page ?? 1}`, 'id,title,excerpt,link,categories,tags');
  return { ...found, records };
}
