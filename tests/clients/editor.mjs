// The block editor in a browser: opens a record, gets a paragraph, a picture and a reusable piece, saves, reloads.
import assert from 'node:assert/strict';
import { createServer, request as ask } from 'node:http';
import { createRequire } from 'node:module';
import { startBrowser } from './browser.mjs';

const [site, login, password, folder, source] = process.argv.slice(2);
const credentials = `${login}:${password}`;
const esbuild = createRequire(`${folder}/package.json`)('esbuild');

const built = await esbuild.build({
  entryPoints: [source],
  bundle: true,
  write: false,
  minify: true,
  jsx: 'automatic',
  nodePaths: [`${folder}/node_modules`],
  define: { 'process.env.NODE_ENV': '"production"', 'globalThis.IS_WORDPRESS_CORE': 'true', 'globalThis.IS_GUTENBERG_PLUGIN': 'false' },
  loader: { '.css': 'empty' },
  logLevel: 'error',
});
const script = built.outputFiles[0].text;
// The page is on the same origin as the API, as in WordPress: every other path goes to the server.
const pages = createServer((request, response) => {
  if (request.url.startsWith('/wp-json/')) {
    const headers = { ...request.headers, host: new URL(site).host };
    const forwarded = ask(`${site}${request.url}`, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
    return;
  }
  const html = request.url.startsWith('/?');
  response.setHeader('Content-Type', html ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8');
  response.end(html ? '<!doctype html><body><div id="root"></div><script src="/app.js"></script>' : script);
});
await new Promise((ready) => pages.listen(0, '127.0.0.1', ready));

async function rest(method, route, body, headers = {}) {
  const json = body !== undefined && !(body instanceof Buffer);
  const answer = await fetch(`${site}/wp-json/wp/v2/${route}`, {
    method,
    headers: { Authorization: `Basic ${btoa(credentials)}`, ...(json ? { 'Content-Type': 'application/json' } : {}), ...headers },
    body: json ? JSON.stringify(body) : body,
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${route}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==', 'base64');
const picture = await rest('POST', 'media', pixel, { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename=dot.png' });
const piece = await rest('POST', 'blocks', {
  title: 'Opening hours',
  content: '<!-- wp:paragraph -->\n<p>Nine to five.</p>\n<!-- /wp:paragraph -->',
  status: 'publish',
});
const post = await rest('POST', 'posts', {
  title: 'Edited in blocks',
  content: '<!-- wp:paragraph -->\n<p>What was here before.</p>\n<!-- /wp:paragraph -->',
  status: 'draft',
});

const browser = await startBrowser();
const { drive, run, until } = browser;
const shows = (text) => until(`${text} is not shown`, 'return document.body.innerText.includes(arguments[0])', text);

try {
  const page = `http://127.0.0.1:${pages.address().port}/?${new URLSearchParams({ credentials, post: post.id })}`;
  await browser.open(page);
  await shows('Edited in blocks');
  await shows('What was here before.');

  await run('return window.editor.insert("core/paragraph", {content: "Typed: "})');
  await until('the paragraph is not there', 'return window.editor.blocks().length === 2');
  const found = await drive('POST', '/elements', { using: 'css selector', value: '[data-type="core/paragraph"]' });
  const last = Object.values(found.at(-1))[0];
  await drive('POST', `/element/${last}/click`, {});
  await drive('POST', `/element/${last}/value`, { text: 'by hand' });
  await shows('by hand');
  await run('return window.editor.insert("core/image", arguments[0])', { id: picture.id, url: picture.source_url, alt: 'A dot' });
  await run('return window.editor.insert("core/block", arguments[0])', { ref: piece.id });
  await shows('Nine to five.');
  await drive('POST', '/execute/async', {
    script: 'const done = arguments[0]; window.editor.save().then(() => done("saved"), (error) => done(JSON.stringify(error)));',
    args: [],
  }).then((told) => assert.equal(told, 'saved'));

  const stored = await rest('GET', `posts/${post.id}?context=edit`);
  for (const part of ['What was here before.', 'by hand', `<!-- wp:image {"id":${picture.id}`, `<!-- wp:block {"ref":${piece.id}} /-->`]) {
    assert.ok(stored.content.raw.includes(part), `${part} in ${stored.content.raw}`);
  }
  assert.ok(stored.content.rendered.includes('<p class="wp-block-paragraph">Nine to five.</p>'), stored.content.rendered);

  await browser.open(page);
  for (const text of ['What was here before.', 'by hand', 'Nine to five.']) await shows(text);
  await until('the picture is not shown', 'return [...document.images].some((image) => image.alt === "A dot" && image.naturalWidth === 1)');
  assert.deepEqual(await run('return window.editor.blocks()'), ['core/paragraph', 'core/paragraph', 'core/image', 'core/block']);
  console.log('the block editor: a paragraph typed, a picture and a reusable piece inserted, saved and found again');
} finally {
  await browser.quit();
  pages.close();
}
