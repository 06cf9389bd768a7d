// What several walks do, by the names that people see.
import { strict as assert } from "node:assert";
import { deflateSync, crc32 } from "node:zlib";

export { assert };

/** Goes to an address of the console, and waits until its screen is there. */
export async function open(person, path) {
  const { page } = person;
  await page.goto(`${person.origin}/admin${path}`);
  await settled(page);
}

/** The screen has its heading, and nothing on it still loads. */
export async function settled(page) {
  // Contents have headings of their own.
  await page.locator("main h1:not([contenteditable] *)").first().waitFor();
  await page.waitForFunction(() => {
    const busy = "main .skeleton, main .loading, main [aria-busy='true']";
    return document.querySelector(busy) === null;
  });
}

/** A button at the head of a record's screen. */
export const press = (page, name) => page.getByRole("main").getByRole("button", { name, exact: true }).first().click();

/** Publishes or schedules the record that is open: the button asks first. */
export async function publish(page, name = "Publish") {
  await press(page, name);
  await page.getByRole("dialog").getByRole("button", { name: name.replace("…", ""), exact: true }).click();
}

/** Does something that stores a record, and waits for the message. */
export async function stored(page, act, message = /saved/i) {
  await act();
  const said = page.getByRole("region", { name: "Messages" }).getByRole("status").filter({ hasText: message }).last();
  await said.waitFor();
  await said.getByRole("button", { name: "Dismiss" }).click();
}

/** Chooses an entry of a menu. */
export async function choose(page, button, entry) {
  await button.click();
  const item = page.getByRole("menu").getByText(entry, { exact: true });
  await item.click();
}

/** The heading of the screen. */
export const heading = (page, name) => page.getByRole("heading", { level: 1, name });

/** The visual editor's text. */
export const writing = (page) => page.locator("[contenteditable='true'].ProseMirror").first();

/** Waits for something that only the API can tell. */
export async function eventually(what, look) {
  const end = Date.now() + 15_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within 15 seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The bytes of a PNG of one colour with a stripe, so that turning and cutting it can be seen. */
export function png(width, height, [red, green, blue] = [11, 98, 105]) {
  const line = 1 + width * 3;
  const raw = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * line + 1 + x * 3;
      const stripe = x < width / 4;
      raw[at] = stripe ? 255 : red;
      raw[at + 1] = stripe ? 255 - (y % 256) : green;
      raw[at + 2] = stripe ? 255 : blue;
    }
  }
  return pngOf(width, height, { depth: 8, type: 2 }, deflateSync(raw));
}

/** A PNG of compressed lines; `palette` has three bytes for each colour. */
export function pngOf(width, height, { depth, type }, packed, palette = null) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([depth, type, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head), ...(palette === null ? [] : [chunk("PLTE", palette)]), chunk("IDAT", packed), chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A file for the browser's file chooser. */
export const picture = (name, width = 600, height = 400, colour = undefined) => ({ name, mimeType: "image/png", buffer: png(width, height, colour) });
