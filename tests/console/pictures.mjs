// Pictures of the main screens for the documents: a desk in light colours, a phone in dark ones.
import { mkdirSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { launch, person } from "./browser.mjs";
import { start } from "./server.mjs";
import { open, picture, pngOf } from "./steps.mjs";

const folder = "docs/console";
const SIZES = [{ width: 1280, height: 800, theme: "light" }, { width: 390, height: 800, theme: "dark" }];

/** The same picture with few colours: the browser reads it, and counts. */
async function small(page, bytes) {
  const { width, height, colours, places } = await page.evaluate(async (text) => {
    const data = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([data], { type: "image/png" }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const pixels = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
    const counts = new Map();
    for (let at = 0; at < pixels.length; at += 4) {
      const colour = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
    const apart = (one, other) => parts(one).reduce((sum, value, part) => sum + (value - parts(other)[part]) ** 2, 0);
    // The most frequent colours that differ.
    const kept = [];
    for (const [colour] of [...counts].sort((a, b) => b[1] - a[1])) {
      if (kept.length === 16) break;
      if (kept.every((other) => apart(colour, other) > (kept.length < 8 ? 30 : 500))) kept.push(colour);
    }
    const nearest = new Map([...counts.keys()].map((colour) => [colour, kept.map((other, place) => [apart(colour, other), place]).sort((a, b) => a[0] - b[0])[0][1]]));
    const indices = new Uint8Array(pixels.length / 4);
    for (let at = 0; at < indices.length; at++) indices[at] = nearest.get((pixels[at * 4] << 16) | (pixels[at * 4 + 1] << 8) | pixels[at * 4 + 2]);
    let written = "";
    for (let at = 0; at < indices.length; at += 30_000) written += String.fromCharCode(...indices.subarray(at, at + 30_000));
    return { width: bitmap.width, height: bitmap.height, colours: kept.map(parts), places: btoa(written) };
  }, bytes.toString("base64"));
  const indices = Buffer.from(places, "base64");
  const line = 1 + width / 2;
  const raw = Buffer.alloc(line * height);
  for (let at = 0; at < indices.length; at++) {
    const x = at % width;
    raw[Math.floor(at / width) * line + 1 + (x >> 1)] |= x % 2 === 0 ? indices[at] << 4 : indices[at];
  }
  return pngOf(width, height, { depth: 4, type: 3 }, deflateSync(raw, { level: 9 }), Buffer.from(colours.flat()));
}

mkdirSync(folder, { recursive: true });
const browser = await launch();
const server = await start({ demo: true });
for (const [place, size] of SIZES.entries()) {
  const ada = await person(browser, server, size);
  const { page } = ada;
  await ada.logIn("administrator");
  if (place === 0) {
    await open(ada, "/r/media");
    const files = [["north-wall", [11, 98, 105]], ["lamp-room", [181, 131, 44]], ["ferry", [62, 88, 140]], ["terns", [110, 110, 120]]];
    await page.locator("input[type=file]").first().setInputFiles(files.map(([name, colour]) => picture(`${name}.png`, 600, 400, colour)));
    await page.getByRole("link", { name: "terns", exact: true }).waitFor();
  }
  const screens = { dashboard: "/", list: "/r/posts", item: "/r/posts/512", media: "/r/media" };
  for (const [name, path] of Object.entries(screens)) {
    await open(ada, path);
    if (name === "item") await page.locator(".ProseMirror").first().waitFor();
    await page.evaluate(() => Promise.all([...document.images].map((one) => one.decode().catch(() => undefined))));
    const bytes = await small(page, await page.screenshot({ animations: "disabled", caret: "hide" }));
    writeFileSync(`${folder}/${name}-${size.width}-${size.theme}.png`, bytes);
    console.log(`${name}-${size.width}-${size.theme}.png: ${Math.round(bytes.length / 1024)} KB`);
  }
  await ada.close();
}
await browser.close();
await server.close();
