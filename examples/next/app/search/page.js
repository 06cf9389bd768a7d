import Items from '../../components/Items.js';
import { list, prefix } from '../../lib/cms.js';

export const metadata = { title: 'Search' };

export default async function Search({ searchParams }) {
  const { q: words = '', page: asked } = await searchParams;
  const page = Math.max(1, Number(asked) || 1);
  const listed = words ? await list(`/${prefix}/v2/posts`, { search: words, page }) : null;
  return (
    <>
      <h1>Search</h1>
      <form><label>Words <input name="q" defaultValue={words} /></label> <button>Search</button></form>
      {listed && <Items {...listed} page={page} path="/search" query={{ q: words }} />}
    </>
  );
}
