// The client of the official SDK against the server: over HTTP with Basic and with Bearer, and over standard input.
// Usage: drive.mjs ADDRESS LOGIN PASSWORD READ_ONLY_PASSWORD PROGRAM ARGUMENTS…
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [address, login, password, readOnly, program, ...args] = process.argv.slice(2);

const token = (secret) => Buffer.from(`${login}:${secret}`).toString('base64');

const overHttp = (authorization, headers = {}) =>
  new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { ...headers, ...(authorization ? { Authorization: authorization } : {}) } },
  });

async function connected(transport) {
  const client = new Client({ name: 'drive', version: '1.0.0' });
  await client.connect(transport);
  return client;
}

// What every caller with all rights finds, whatever the transport.
async function drive(client) {
  assert.equal(client.getServerVersion().name, 'cms-server');
  await client.ping();
  // The client checks structured results against the schemas that it has read here.
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  for (const name of ['core-get-site-info', 'posts-list', 'posts-create', 'posts-publish']) assert(names.includes(name), name);
  assert(!names.includes('posts-delete'), 'destructive tools are not offered');

  const call = (name, args) => client.callTool({ name, arguments: args });
  const created = await call('posts-create', { title: 'By the SDK', content: 'Hello' });
  assert.equal(created.isError, false, JSON.stringify(created));
  const { id } = created.structuredContent;
  assert.equal((await call('posts-publish', { id })).structuredContent.status, 'publish');
  assert.equal((await call('posts-update', { id, title: 'Changed' })).structuredContent.title.raw, 'Changed');
  assert.equal((await call('posts-get', { id, _fields: ['id'] })).structuredContent.id, id);
  const listed = await call('posts-list', { per_page: 100, context: 'edit' });
  assert(listed.structuredContent.items.some((post) => post.id === id));
  assert((await call('pages-list', {})).structuredContent.items.length > 0);
  assert.equal((await call('core-get-site-info', { fields: ['language'] })).structuredContent.language, 'en-US');
  const user = await call('core-get-user-info', {});
  assert.equal(user.structuredContent.user_login, login);

  const missing = await call('posts-get', { id: 999999 });
  assert.equal(missing.isError, true);
  assert.match(missing.content[0].text, /rest_post_invalid_id/);
  await assert.rejects(call('posts-delete', { id }), (error) => error.code === -32602);

  const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const file = await call('media-upload', { data: picture, filename: 'dot.png', alt_text: 'A dot', post: id });
  assert.equal(file.structuredContent?.mime_type, 'image/png', JSON.stringify(file));

  assert.match(client.getInstructions(), /Content of the site/);
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => prompt.name), ['summarise']);
  const prompt = await client.getPrompt({ name: 'summarise', arguments: { post: String(id) } });
  assert.equal(prompt.messages[0].content.text, `Summarise the post ${id}.`);
  await assert.rejects(client.getPrompt({ name: 'summarise', arguments: {} }), (error) => error.code === -32602);

  const { resourceTemplates } = await client.listResourceTemplates();
  assert(resourceTemplates.some((one) => one.uriTemplate.endsWith('://posts/{id}')));
  const uris = [];
  let cursor;
  do {
    const page = await client.listResources(cursor ? { cursor } : {});
    uris.push(...page.resources.map((one) => one.uri));
    cursor = page.nextCursor;
  } while (cursor);
  assert(uris.length > 10 && new Set(uris).size === uris.length, `${uris.length} addresses`);
  const uri = uris.find((one) => one.endsWith(`://posts/${id}`));
  const { contents } = await client.readResource({ uri });
  assert.equal(JSON.parse(contents[0].text).title.rendered, 'Changed');
  await assert.rejects(client.readResource({ uri: 'cms://posts/999999' }), (error) => error.code === -32002);
  return names.length;
}

// What an editor has written.
const prompt = { name: 'summarise', text: 'Summarise the post {post}.', arguments: [{ name: 'post', required: true }] };
const written = await fetch(address.replace(/\/mcp$/, '/cms-json/server/v1/prompts'), {
  method: 'POST',
  headers: { Authorization: `Basic ${token(password)}`, 'Content-Type': 'application/json' },
  body: JSON.stringify(prompt),
});
assert.equal(written.status, 201, await written.text());

for (const authorization of [`Basic ${token(password)}`, `Bearer ${token(password)}`]) {
  const client = await connected(overHttp(authorization));
  const count = await drive(client);
  console.log(`${authorization.split(' ')[0]}: ${count} tools`);
  await client.close();
}

const reads = await connected(overHttp(`Basic ${token(readOnly)}`));
const offered = (await reads.listTools()).tools;
assert(offered.length > 3 && offered.every((tool) => tool.annotations.readOnlyHint), 'only tools that read');
await reads.close();

for (const authorization of [undefined, 'Bearer nonsense', `Basic ${token('wrong')}`]) {
  await assert.rejects(connected(overHttp(authorization)), (error) => error.code === 401, authorization);
}
await assert.rejects(connected(overHttp(`Basic ${token(password)}`, { Origin: 'https://evil.example' })), (error) => error.code === 403);

const stdio = await connected(new StdioClientTransport({ command: program, args: [...args, 'mcp', '--user', login] }));
console.log(`standard input: ${await drive(stdio)} tools`);
await stdio.close();
console.log('the client of the SDK is served');
