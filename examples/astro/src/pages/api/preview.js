// The address of previews, `site.front.preview` of the server: shows the record's page with the token. The server decides
// whether the token is good, so nothing is checked here but that the path is one of this site.
export function GET({ url, redirect }) {
  const to = new URL(url.searchParams.get('path') ?? '/', url);
  if (to.origin !== url.origin) return new Response('That is no path of this site.', { status: 400 });
  to.searchParams.set('preview', url.searchParams.get('token') ?? '');
  return redirect(to.pathname + to.search, 307);
}
