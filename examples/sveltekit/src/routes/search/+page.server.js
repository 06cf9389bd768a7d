import { list, prefix } from '$lib/server/cms.js';

export async function load({ url }) {
  const words = url.searchParams.get('q') ?? '';
  const page = Math.max(1, Number(url.searchParams.get('page')) || 1);
  return { title: 'Search', words, page, listed: words ? await list(`/${prefix}/v2/posts`, { search: words, page }) : null };
}
