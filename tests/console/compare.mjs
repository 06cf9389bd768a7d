// Compares what was built with what is committed: the same files, with the same contents when they are unpacked.
// Compressed bytes may differ between versions of the compressor.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

const [built, committed] = process.argv.slice(2);
const files = (folder) =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).filter((name) => !statSync(join(folder, name)).isDirectory()).sort() : [];
const unpacked = (path) => brotliDecompressSync(readFileSync(path));

const differences = [];
const [here, there] = [files(built), files(committed)];
for (const name of new Set([...here, ...there])) {
  if (!here.includes(name)) differences.push(`${name} is committed, and the source does not build it`);
  else if (!there.includes(name)) differences.push(`${name} is not committed`);
  else if (!unpacked(join(built, name)).equals(unpacked(join(committed, name)))) differences.push(`${name} differs`);
}
if (differences.length > 0) {
  console.error(differences.join("\n"));
  console.error("Build the console (`npm ci && npm run build` in console/) and commit console/dist.");
  process.exit(1);
}
console.log(`console/dist is what the source builds: ${here.length} files`);
