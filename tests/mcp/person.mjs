// What a person does in a browser where a program asks to be connected: logs in, and sends the form of the page.
import assert from 'node:assert/strict';

export const form = (pairs) => ({ method: 'POST', redirect: 'manual', body: new URLSearchParams(pairs) });
const unescaped = (text) => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** The address that the person is sent back to. */
export async function consent(page, [login, password], redirect) {
  const { origin } = new URL(page);
  const inside = await fetch(`${origin}/login`, form({ login, password }));
  assert.equal(inside.status, 303, await inside.text());
  const cookie = inside.headers.get('set-cookie').split(';')[0];
  const shown = await fetch(page, { headers: { cookie }, redirect: 'manual' });
  const text = await shown.text();
  assert.equal(shown.status, 200, text);
  const hidden = text.match(/<form method="post" action="\/connect".*?<\/form>/s)[0];
  const fields = [...hidden.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, unescaped(value)]);
  const back = await fetch(`${origin}/connect`, { ...form([...fields, ['act', 'approve']]), headers: { cookie } });
  assert.equal(back.status, 303, await back.text());
  const place = new URL(back.headers.get('location'));
  assert(place.href.startsWith(redirect), place.href);
  return place;
}
