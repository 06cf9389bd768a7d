// Whether `content.blocks` has the attributes that WordPress's own editor reads: `attributes.mjs SAMPLES.json NODE_MODULES`.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { start } from "../server.mjs";

const [samplesPath, modules] = process.argv.slice(2);
const write = (text) => process.stdout.write(`${text}\n`);
const { createBlock, getBlockType, getBlockTypes, parse, serialize } = createRequire(import.meta.url)("./editor.cjs")(resolve(modules));
const recorded = JSON.parse(readFileSync("fixtures/render/blocks.json", "utf8")).cases ?? [];
const samples = [
  ...JSON.parse(readFileSync(samplesPath, "utf8")),
  ...recorded.map(({ input }, at) => ({ name: `recorded ${at}`, text: input })),
  ...written(),
];

/** Each type of block as the editor writes it: as it begins, and with another value of each attribute. */
function written() {
  const values = ({ type, enum: choices, default: usual }) => {
    if (Array.isArray(choices)) return choices;
    if (type === "boolean") return [usual !== true];
    if (type === "number" || type === "integer") return [3];
    return type === "string" || type === "rich-text" ? ["Words <em>and</em> &amp; more"] : [];
  };
  const texts = new Map();
  for (const { name, attributes } of getBlockTypes()) {
    const variants = Object.entries(attributes).flatMap(([key, attribute]) => values(attribute).map((value) => [`${name} ${key}`, { [key]: value }]));
    for (const [title, own] of [[name, {}], ...variants]) {
      // Some types cannot be made without others around them.
      try {
        const text = serialize([createBlock(name, own)]);
        if (parse(text)[0]?.isValid === true && !texts.has(text)) texts.set(text, title);
      } catch {
        continue;
      }
    }
  }
  // A quarter of them is enough for each run.
  return [...texts].filter((_, at) => at % 4 === 0).map(([text, name]) => ({ name, text }));
}

const plain = (value) => JSON.parse(JSON.stringify(value));
/** The blocks of the editor as the server shows them: what is blank between them is none. */
const shown = (blocks) =>
  blocks
    .filter(({ name }) => name !== null)
    .map(({ name, attributes, innerBlocks }) => ({ name, attributes: plain(attributes), inner: shown(innerBlocks) }));

let [same, all] = [0, 0];
const differ = [];
function compare(sample, own, theirs) {
  for (const [at, one] of theirs.entries()) {
    const other = own[at];
    // Text outside of blocks is for an editor that is not there, and types of others are not registered in it.
    if (one.name === "core/missing") continue;
    if (other?.name !== one.name) {
      differ.push(`${sample}: ${one.name} is ${other?.name}`);
      all += Object.keys(one.attributes).length + 1;
      continue;
    }
    // The types here are of another version: an attribute that only one of both knows is no difference.
    const known = Object.keys(getBlockType(one.name)?.attributes ?? {}).filter((key) => key in (declared.get(one.name) ?? {}));
    for (const key of known.filter((key) => key in one.attributes || key in other.attributes)) {
      all += 1;
      if (isDeepStrictEqual(one.attributes[key], other.attributes[key])) same += 1;
      else differ.push(`${sample}: ${one.name} ${key}: ${JSON.stringify(other.attributes[key])} instead of ${JSON.stringify(one.attributes[key])}`);
    }
    compare(sample, other.inner, one.inner);
  }
}

const server = await start({ settings: ["site.prefix=wp"] });
/** The attributes of types, as the server declares them. */
const declared = new Map();
try {
  for (const { name, attributes } of (await server.ask("administrator", "GET", "/wp/v2/block-types")).body) declared.set(name, attributes ?? {});
  for (const { name, text } of samples) {
    const made = await server.ask("administrator", "POST", "/wp/v2/posts", { title: name, content: text, status: "publish" });
    if (made.status !== 201) throw new Error(`${name}: ${JSON.stringify(made.body)}`);
    const read = await server.ask("administrator", "GET", `/wp/v2/posts/${made.body.id}?_blocks=raw&_fields=content.blocks`);
    compare(name, read.body.content.blocks, shown(parse(text)));
  }
} finally {
  await server.close();
}
for (const line of differ.slice(0, 60)) write(line.slice(0, 400));
write(`${same} of ${all} attributes of ${samples.length} contents are as WordPress's own editor reads them`);
process.exit(all > 500 && same / all >= 0.98 ? 0 : 1);
