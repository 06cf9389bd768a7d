// Every address of the site: the server says what is there.
import { notFound, permanentRedirect, redirect } from 'next/navigation';
import Blocks from '../../components/Blocks.js';
import Items from '../../components/Items.js';
import Preview from '../../components/Preview.js';
import { document, list, origin, prefix, resolve } from '../../lib/cms.js';
import { plain } from '../../lib/inline.js';

/** What the server says of the address. Others by number, such as /?p=12, are read as they are. */
async function at({ params, searchParams }) {
  const { path = [] } = await params;
  const { preview: token, page, ...query } = await searchParams;
  const pathname = `/${path.join('/')}`;
  const search = new URLSearchParams(query);
  return { token, page, pathname, found: await resolve(search.size ? `${pathname}?${search}` : pathname, token) };
}

const titleOf = (item) => plain(item?.title?.rendered ?? item?.name);

export async function generateMetadata(props) {
  const { token, found } = await at(props);
  const title = titleOf(document(found));
  return { ...(title && { title }), alternates: { canonical: found?.link }, robots: token ? { index: false } : undefined };
}

export default async function Page(props) {
  const { token, pathname, found, ...asked } = await at(props);
  if (found?.kind === 'redirect' && found.location) {
    // A page of Next redirects with 307 or 308, where the server may say 302 or 301.
    ([301, 308].includes(found.status) ? permanentRedirect : redirect)(found.location);
  }
  // A page is not told of the slash at the end of its address, so that alone is no reason to redirect.
  const bare = (path) => decodeURI(path).replace(/\/$/, '');
  if (found?.canonical === false && !token && bare(new URL(found.link).pathname) !== bare(pathname)) permanentRedirect(found.link);

  const item = document(found);
  const title = titleOf(item);
  if (item?.content) {
    return (
      <>
        {token && <Preview origin={origin} />}
        <h1>{title}</h1>
        {item.type === 'post' && <time dateTime={item.date}>{new Date(item.date).toLocaleDateString('en', { dateStyle: 'long' })}</time>}
        <Blocks blocks={item.content.blocks ?? []} />
      </>
    );
  }
  if (!found || found.kind === 'redirect') notFound();
  // The records of what is there: `rest` of a month or of the first page is the list itself.
  const records = {
    term: () => item._links[`${prefix}:post_type`][0].href,
    author: () => `/${prefix}/v2/posts?author=${found.id}`,
  };
  const page = Math.max(1, found.page ?? (Number(asked.page) || 1));
  const listed = await list(records[found.kind]?.() ?? found.rest, { page });
  return <>{title && <h1>{title}</h1>}<Items {...listed} page={page} path={pathname} /></>;
}
