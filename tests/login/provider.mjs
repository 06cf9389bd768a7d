// An identity provider made of the package oidc-provider, with its own pages for login and consent. Each login name is a person; the
// groups of all are in a file, separated by blanks. Usage: provider.mjs PORT SITE FILE
import { readFileSync } from 'node:fs';
import { Provider } from 'oidc-provider';

const [port, site, file] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: 'cms',
      client_secret: 'a secret of some length',
      redirect_uris: [`${site}/login-with/node/back`],
      post_logout_redirect_uris: [`${site}/login`],
    },
  ],
  claims: { email: ['email', 'email_verified'], profile: ['name', 'preferred_username'], groups: ['groups'] },
  scopes: ['openid', 'email', 'profile', 'groups'],
  cookies: { keys: ['only for this run'] },
  findAccount: (_, name) => {
    const groups = readFileSync(file, 'utf8').split(' ').filter(Boolean);
    const email = `${name}@example.org`;
    return { accountId: name, claims: () => ({ sub: name, email, email_verified: true, name, preferred_username: name, groups }) };
  },
});
provider.listen(Number(port), '127.0.0.1', () => console.log('listens'));
