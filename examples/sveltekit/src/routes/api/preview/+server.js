import { error, redirect } from '@sveltejs/kit';

// The address of previews, `site.front.preview` of the server: shows the record's page with the token. The server decides
// whether the token is good, so nothing is checked here but that the path is one of this site.
export function GET({ url }) {
  const to = new URL(url.searchParams.get('path') ?? '/', url);
  if (to.origin !== url.origin) error(400, 'That is no path of this site.');
  to.searchParams.set('preview', url.searchParams.get('token') ?? '');
  redirect(307, to.pathname + to.search);
}
