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

/** The same in Chromium, where nothing listens at the address of the program. */
export async function consentInBrowser(browser, page, [login, password], redirect) {
  await browser.open(String(page));
  const heading = (text) => browser.until(text, 'return document.querySelector("h1")?.textContent === arguments[0]', text);
  if (await browser.run('return document.querySelector("#password") !== null')) {
    const fill = 'for (const [id, text] of arguments[0]) document.getElementById(id).value = text; document.querySelector("button.main").click()';
    await browser.run(fill, [['login', login], ['password', password]]);
  }
  await heading('Connect a program?');
  await browser.run('document.querySelector("button[value=approve]").click()');
  for (let n = 0; n < 150; n++) {
    const place = await browser.drive('GET', '/url');
    if (place.startsWith(redirect)) return new URL(place);
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(`the browser is at ${await browser.drive('GET', '/url')}`);
}
