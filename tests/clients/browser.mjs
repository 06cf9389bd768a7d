// Chromium by chromedriver, for clients that run in a browser.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';

/** Starts a browser. */
export async function startBrowser() {
  // With port 0 it takes a port of IPv4 and ends where the same one of IPv6 is in use.
  const port = execFileSync(new URL('../free-port', import.meta.url).pathname, { encoding: 'utf8' }).trim();
  const driver = spawn('chromedriver', [`--port=${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => driver.kill());
  await new Promise((ready, failed) => {
    let told = '';
    driver.stdout.on('data', (chunk) => {
      told += chunk;
      if (told.includes('started successfully')) ready();
    });
    driver.on('error', failed);
    driver.on('exit', (status) => failed(new Error(`chromedriver ends with ${status}`)));
  });
  let session = '';
  const browser = {
    /** Sends a command of WebDriver. */
    async drive(method, path, body) {
      const answer = await fetch(`http://127.0.0.1:${port}/session${session}${path}`, { method, body: body && JSON.stringify(body) });
      const { value } = await answer.json();
      assert.ok(answer.ok, `${path}: ${JSON.stringify(value).slice(0, 2000)}`);
      return value;
    },
    open: (url) => browser.drive('POST', '/url', { url }),
    /** Runs a script in the page. */
    run: (script, ...args) => browser.drive('POST', '/execute/sync', { script, args }),
    /** Runs a script until it returns something. */
    async until(what, script, ...args) {
      for (let n = 0; n < 150; n++) {
        const value = await browser.run(script, ...args);
        if (value) return value;
        await new Promise((done) => setTimeout(done, 100));
      }
      const log = await browser.drive('POST', '/se/log', { type: 'browser' }).catch(() => []);
      assert.fail(`${what}\n${await browser.run('return document.body.innerHTML.slice(0, 3000)')}\n${JSON.stringify(log).slice(0, 3000)}`);
    },
    /** Ends it. */
    async quit() {
      if (session) await browser.drive('DELETE', '').catch(() => {});
      driver.kill();
    },
  };
  try {
    const { sessionId } = await browser.drive('POST', '', {
      capabilities: {
        alwaysMatch: {
          browserName: 'chrome',
          'goog:loggingPrefs': { browser: 'ALL' },
          'goog:chromeOptions': { args: ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--window-size=1200,900'] },
        },
      },
    });
    session = `/${sessionId}`;
  } catch (error) {
    driver.kill();
    throw error;
  }
  return browser;
}
