// The scenarios for authorization servers of the official conformance suite, with a person who consents where the suite wants one.
// Usage: authorization.mjs SUITE REVISION ADDRESS LOGIN ACCOUNT_PASSWORD PORT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { consent } from './person.mjs';

const [suite, revision, address, login, password, port] = process.argv.slice(2);
const { origin } = new URL(address);
const redirect = `http://127.0.0.1:${port}/callback`;
const { registration_endpoint: registration } = await (await fetch(`${origin}/.well-known/oauth-authorization-server`)).json();
const made = await fetch(registration, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [redirect] }),
});
assert.equal(made.status, 201);
const { client_id: client } = await made.json();

const args = ['authorization', '--url', origin, '--client-id', client, '--resource', address, '-p', port, '--spec-version', revision];
const run = spawn(process.execPath, [suite, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
const lines = [];
let consented = 0;
createInterface({ input: run.stdout }).on('line', async (line) => {
  lines.push(line);
  if (!line.startsWith(`${origin}/connect?`)) return;
  try {
    await fetch(await consent(line, [login, password], redirect));
    consented += 1;
  } catch (error) {
    lines.push(String(error));
    run.kill();
  }
});
const status = await new Promise((ended) => run.on('close', ended));
assert.equal(status, 0, lines.join('\n'));
assert.equal(consented, 1, lines.join('\n'));
assert(!lines.some((line) => line.includes('SKIPPED')), lines.join('\n'));
console.log(lines.filter((line) => line.startsWith('Total')).join('\n'));
