// The OAuth client of the official SDK, as it is, against the server: discovery, registration, consent, a tool, refresh, revocation.
// The person decides in Chromium, where the last argument names the module that starts it.
// Usage: oauth.mjs ADDRESS LOGIN ACCOUNT_PASSWORD [BROWSER]
import assert from 'node:assert/strict';
import { auth, discoverAuthorizationServerMetadata, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { consent, consentInBrowser, form } from './person.mjs';

const [address, login, password, module] = process.argv.slice(2);
const browser = module && (await (await import(module)).startBrowser());
const site = new URL(address).origin;
const redirect = 'http://localhost:41234/callback';

const stored = {};
const provider = {
  redirectUrl: redirect,
  clientMetadata: {
    client_name: 'SDK',
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_post',
  },
  state: () => 'a state',
  clientInformation: () => stored.client,
  saveClientInformation: (client) => (stored.client = client),
  tokens: () => stored.tokens,
  saveTokens: (tokens) => (stored.tokens = tokens),
  codeVerifier: () => stored.verifier,
  saveCodeVerifier: (verifier) => (stored.verifier = verifier),
  invalidateCredentials: (what) => what === 'tokens' && delete stored.tokens,
  redirectToAuthorization: (url) => (stored.page = url),
};

async function connected() {
  const client = new Client({ name: 'oauth', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
  try {
    await client.connect(transport);
  } catch (error) {
    // `finishAuth` belongs to the transport that was refused.
    error.transport = transport;
    throw error;
  }
  return client;
}

// The code that the program gets.
async function code(page) {
  const decide = browser ? consentInBrowser.bind(null, browser) : consent;
  const place = await decide(page, [login, password], redirect);
  assert.equal(place.searchParams.get('state'), 'a state');
  return place.searchParams.get('code');
}

async function works(client) {
  const result = await client.callTool({ name: 'posts-create', arguments: { title: 'By a connected program' } });
  assert.equal(result.isError, false, JSON.stringify(result));
}

const refused = await connected().then(assert.fail, (error) => error);
assert(refused instanceof UnauthorizedError, String(refused));
assert(stored.client.client_id && !stored.client.client_secret, 'the program is registered, without a secret');
assert.equal(stored.page.searchParams.get('resource'), address);
await refused.transport.finishAuth(await code(stored.page));
const first = stored.tokens;
const client = await connected();
await works(client);

// Once by asking for it, once because the access token is refused.
assert.equal(await auth(provider, { serverUrl: address }), 'AUTHORIZED');
assert.notEqual(stored.tokens.access_token, first.access_token);
await works(client);
stored.tokens = { ...stored.tokens, access_token: first.access_token };
await works(client);
assert.notEqual(stored.tokens.access_token, first.access_token);

const { revocation_endpoint: revocation } = await discoverAuthorizationServerMetadata(site);
const { refresh_token: token } = stored.tokens;
const ended = await fetch(revocation, form({ token, client_id: stored.client.client_id }));
assert.equal(ended.status, 200, await ended.text());
stored.page = undefined;
await assert.rejects(works(client), UnauthorizedError);
assert(stored.page, 'the person is asked again');
await browser?.quit();
console.log(`the SDK's OAuth client is served${browser ? ', with consent in Chromium' : ''}`);
