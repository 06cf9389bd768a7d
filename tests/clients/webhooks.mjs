// What webhooks send, verified by the unmodified library standardwebhooks 1.0 (npm).
//
// Usage: node webhooks.mjs SITE LOGIN PASSWORD NODE_MODULES PORT

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [site, login, password, modules, port] = process.argv.slice(2);
const { Webhook, WebhookVerificationError } = createRequire(join(resolve(modules), 'x.js'))('standardwebhooks');

const waiting = [];
const received = [];
const server = createServer((request, response) => {
	let body = '';
	request.on('data', (part) => { body += part; });
	request.on('end', () => {
		response.end('ok');
		const next = { headers: request.headers, body };
		const taker = waiting.shift();
		taker ? taker(next) : received.push(next);
	});
});
await new Promise((done) => server.listen(Number(port), '127.0.0.1', done));
const next = () => (received.length ? Promise.resolve(received.shift()) : new Promise((done) => waiting.push(done)));

async function send(path, body) {
	const response = await fetch(`${site}/wp-json${path}`, {
		method: 'POST',
		headers: {
			'Content-Type': 'application/json',
			Authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`,
		},
		body: JSON.stringify(body),
	});
	assert.ok(response.ok, `${path}: ${response.status} ${response.ok ? '' : await response.text()}`);
	return response.json();
}

const hook = await send('/server/v1/webhooks', {
	name: 'Front end', url: `http://127.0.0.1:${port}/hook`, resources: ['posts'],
});
const post = await send('/wp/v2/posts', { title: 'Harbour', status: 'publish' });
const first = await next();
const event = new Webhook(hook.secret).verify(first.body, first.headers);
assert.deepEqual([event.type, event.record, event.slug], ['published', post.id, 'harbour']);
console.log('ok a signature is valid');
assert.throws(() => new Webhook(hook.secret).verify(first.body.replace('harbour', 'x'), first.headers), WebhookVerificationError);
assert.throws(() => new Webhook('whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD').verify(first.body, first.headers));
console.log('ok another text or secret is refused');
const rotated = await send(`/server/v1/webhooks/${hook.id}`, { secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' });
await send(`/wp/v2/posts/${post.id}`, { title: 'Quay' });
const second = await next();
for (const secret of [hook.secret, rotated.secret]) {
	assert.equal(new Webhook(secret).verify(second.body, second.headers).type, 'updated');
}
console.log('ok both secrets are valid while one takes the place of the other');
server.close();
