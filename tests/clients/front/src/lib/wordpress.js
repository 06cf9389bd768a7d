// What every headless site asks of WordPress: collections page by page, embedded, and menus with a password.
const base = import.meta.env.WORDPRESS_URL ?? process.env.WORDPRESS_URL;
const password = process.env.WORDPRESS_PASSWORD;

export async function ask(route, authenticated = false) {
  const headers = authenticated ? { Authorization: `Basic ${btoa(password)}` } : {};
  const answer = await fetch(`${base}/wp-json/wp/v2/${route}`, { headers });
  if (!answer.ok) throw new Error(`${route}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** Everything of a collection, as far as `X-WP-TotalPages` goes. */
export async function all(route) {
  const join = route.includes('?') ? '&' : '?';
  const items = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const answer = await ask(`${route}${join}per_page=5&page=${page}`);
    pages = Number(answer.headers.get('X-WP-TotalPages'));
    items.push(...(await answer.json()));
  }
  return items;
}

/** The items of a menu as a tree. */
export async function menu(slug) {
  const [found] = await (await ask(`menus?slug=${slug}`, true)).json();
  if (!found) return [];
  const items = await (await ask(`menu-items?menus=${found.id}&per_page=100`, true)).json();
  const below = (parent) =>
    items.filter((item) => item.parent === parent).map((item) => ({ ...item, children: below(item.id) }));
  return below(0);
}
