// Compresses what Vite has built: the program holds the files as they are sent, and unpacks them for clients that take no Brotli.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const dist = new URL("../dist/", import.meta.url).pathname;
let total = 0;
for (const name of readdirSync(dist, { recursive: true }).sort()) {
  const path = join(dist, name);
  if (name.endsWith(".br") || statSync(path).isDirectory()) continue;
  const packed = brotliCompressSync(readFileSync(path), { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  writeFileSync(`${path}.br`, packed);
  rmSync(path);
  total += packed.length;
  console.log(`${String(packed.length).padStart(8)}  ${name}`);
}
console.log(`${String(total).padStart(8)}  total`);
