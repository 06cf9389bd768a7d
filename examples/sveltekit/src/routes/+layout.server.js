import { menu, site } from '$lib/server/cms.js';

// Addresses are the server's, with or without a slash at their end.
export const trailingSlash = 'ignore';

export async function load() {
  const [{ name }, items] = await Promise.all([site(), menu('main')]);
  return { name, menu: items };
}
