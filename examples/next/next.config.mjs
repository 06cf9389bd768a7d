export default {
  // Addresses are the server's, with or without a slash at their end.
  skipTrailingSlashRedirect: true,
  // The address of a preview holds its token. No page is cached; Next says so itself.
  headers: () => [
    { source: '/:path*', has: [{ type: 'query', key: 'preview' }], headers: [{ key: 'Referrer-Policy', value: 'no-referrer' }] },
  ],
};
