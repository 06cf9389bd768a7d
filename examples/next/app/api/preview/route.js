import { draftMode } from 'next/headers';
import { redirect } from 'next/navigation';
import { resolve } from '../../../lib/cms.js';

// The address of previews, `site.front.preview` of the server: enables draft mode, in which Next keeps nothing, and shows the
// record's page with the token. The server decides whether the token is good.
export async function GET({ nextUrl }) {
  const token = nextUrl.searchParams.get('token') ?? '';
  const to = new URL(nextUrl.searchParams.get('path') ?? '/', nextUrl);
  if (to.origin !== nextUrl.origin) return new Response('That is no path of this site.', { status: 400 });
  if (!(await resolve(to.pathname + to.search, token))) return new Response('This preview has ended.', { status: 401 });
  (await draftMode()).enable();
  to.searchParams.set('preview', token);
  redirect(to.pathname + to.search);
}
