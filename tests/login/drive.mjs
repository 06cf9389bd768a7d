// People log in to the site by providers that know nothing of it: by the pages of each, as a browser without scripts sends them.
// Usage: drive.mjs SITE FILE, where the groups of the people at one of the providers are
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';

const [site, file] = process.argv.slice(2);
const unescaped = (text) => text.replaceAll('&quot;', '"').replaceAll('&#34;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

// Cookies of all hosts of this machine, by name: the ports of one host share them.
class Person {
  cookies = new Map();

  // Where a request leads in the end.
  async go(address, form) {
    for (let redirects = 0; redirects < 20; redirects++) {
      const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const sent = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
      const answer = await fetch(address, { ...sent, headers: { cookie, accept: 'text/html' }, redirect: 'manual' });
      for (const line of answer.headers.getSetCookie()) {
        const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
        value ? this.cookies.set(name, value) : this.cookies.delete(name);
      }
      const place = answer.headers.get('location');
      if (!place) return { address, status: answer.status, text: await answer.text(), headers: answer.headers };
      address = new URL(place, address).href;
      form = answer.status === 307 || answer.status === 308 ? form : undefined;
    }
    throw new Error('redirected too often');
  }

  // Sends the form of a page that has the field, with the values.
  async submit(page, field, values) {
    const forms = [...page.text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)];
    const found = forms.find(([, , inner]) => inner.includes(`name="${field}"`));
    assert(found, `no form with ${field} at ${page.address}: ${page.text}`);
    const action = found[1].match(/action="([^"]*)"/)?.[1];
    const hidden = [...found[2].matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([tag]) => [
      tag.match(/name="([^"]*)"/)[1],
      unescaped(tag.match(/value="([^"]*)"/)?.[1] ?? ''),
    ]);
    return this.go(action ? new URL(unescaped(action), page.address).href : page.address, [...hidden, ...Object.entries(values)]);
  }

  // The provider's page to which the button of the login page leads.
  async begin(label) {
    const login = await this.go(`${site}/profile?of=${label}`);
    const button = login.text.match(new RegExp(`class="button" href="([^"]*)">Log in with ${label}<`));
    assert(button, login.text);
    return this.go(new URL(unescaped(button[1]), site).href);
  }
}

// What each provider asks for between its address and the way back.
const providers = {
  node: async (person, page, login) => {
    page = await person.submit(page, 'login', { login, password: 'any' });
    return page.address.startsWith(site) ? page : person.submit(page, 'prompt', {});
  },
  python: (person, page, login) => person.submit(page, 'sub', { sub: login }),
};

function inside(page, label, name) {
  assert.equal(page.address, `${site}/profile?of=${label}`, `${page.address}: ${page.text}`);
  assert.equal(page.status, 200, page.text);
  assert(page.text.includes(`<a href="/profile">${name}</a>`), page.text);
}

for (const [label, consent] of Object.entries(providers)) {
  const name = `zoe-${label}`;
  const logIn = async (groups) => {
    writeFileSync(file, groups);
    const person = new Person();
    return [person, await consent(person, await person.begin(label), name)];
  };
  const [editor, page] = await logIn('editors');
  inside(page, label, name);
  assert(page.text.includes('href="/admin"'), `${label}: an editor has the console`);
  if (label === 'node') {
    // The same person with fewer rights at the provider, and with none.
    const [, demoted] = await logIn('readers');
    inside(demoted, label, name);
    const before = await editor.go(`${site}/profile?of=${label}`);
    assert(!before.text.includes('href="/admin"'), 'the session from before has the new role');
    const [, refused] = await logIn('');
    assert.equal(refused.status, 403, refused.text);
    const after = await editor.go(`${site}/profile?of=${label}`);
    assert(after.address.startsWith(`${site}/login?`), 'the session from before has ended');
    // Nobody consents.
    const person = new Person();
    const asked = await person.begin(label);
    const cancel = asked.text.match(/href="([^"]*\/abort)"/)[1];
    const back = await person.go(new URL(cancel, asked.address).href);
    assert.equal(back.status, 403, back.text);
    assert(back.text.includes(`You did not log in with ${label}.`), back.text);
  }
  // The logout leads to the provider, which knows the session by the token, and back.
  const [person, profile] = await logIn('editors');
  inside(profile, label, name);
  const out = await person.submit(await person.go(`${site}/logout`), 'token', {});
  const place = out.headers.get('refresh').replace('0; url=', '');
  const there = await person.go(place);
  assert.equal(there.status, 200, `${place}: ${there.text}`);
  assert(!there.address.startsWith(site) && there.text.includes('<form'), there.text);
  assert((await person.go(`${site}/profile`)).address.startsWith(`${site}/login?`), 'nobody is logged in here');
  console.log(`${label}: login, roles, logout`);
}
