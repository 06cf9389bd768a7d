// The OAuth client `oauth4webapi`, which checks every answer by the standards: discovery of resource and server, registration, consent,
// a request, refresh, reuse, revocation.
// Usage: oauth4webapi.mjs ADDRESS LOGIN ACCOUNT_PASSWORD
import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import { consent } from './person.mjs';

const [address, login, password] = process.argv.slice(2);
const redirect = 'http://127.0.0.1:41235/callback';
// The server listens on this machine alone, without TLS.
const plain = { [oauth.allowInsecureRequests]: true };

const resource = new URL(address);
const found = await oauth.resourceDiscoveryRequest(resource, plain);
const about = await oauth.processResourceDiscoveryResponse(resource, found);
const issuer = new URL(about.authorization_servers[0]);
const told = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...plain });
const server = await oauth.processDiscoveryResponse(issuer, told);

const wanted = { client_name: 'oauth4webapi', redirect_uris: [redirect], token_endpoint_auth_method: 'none' };
const made = await oauth.dynamicClientRegistrationRequest(server, wanted, plain);
const client = await oauth.processDynamicClientRegistrationResponse(made);

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const page = new URL(server.authorization_endpoint);
for (const [name, value] of Object.entries({
  client_id: client.client_id,
  redirect_uri: redirect,
  response_type: 'code',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  scope: 'read',
  state,
  resource: address,
})) page.searchParams.set(name, value);
const back = await consent(page, [login, password], redirect);
// Among others that the answer is from this issuer.
const answer = oauth.validateAuthResponse(server, client, back, state);
const more = { ...plain, additionalParameters: { resource: address } };
const redeem = () => oauth.authorizationCodeGrantRequest(server, client, oauth.None(), answer, redirect, verifier, more);
const first = await oauth.processAuthorizationCodeResponse(server, client, await redeem());
assert.equal(first.scope, 'read');

const me = new URL(`${resource.origin}/cms-json/cms/v2/users/me`);
const ask = (tokens, method = 'GET') => oauth.protectedResourceRequest(tokens.access_token, method, me, undefined, undefined, plain);
assert.equal((await (await ask(first)).json()).slug, login);

const renew = async (tokens) => {
  const sent = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token, more);
  return oauth.processRefreshTokenResponse(server, client, sent);
};
const second = await renew(first);
assert.notEqual(second.refresh_token, first.refresh_token);
assert.equal((await ask(second)).status, 200);
const challenged = (error) => error instanceof oauth.WWWAuthenticateChallengeError && error.status === 401;
await assert.rejects(async () => oauth.processResourceDiscoveryResponse(resource, await ask({ access_token: 'cms.x' })), challenged);

// What is used twice ends everything that follows from it.
await assert.rejects(renew(first), (error) => error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant');
await assert.rejects(renew(second), (error) => error.error === 'invalid_grant');

const revoked = await oauth.revocationRequest(server, client, oauth.None(), second.refresh_token, plain);
assert.equal(await oauth.processRevocationResponse(revoked), undefined);
console.log('oauth4webapi is served');
