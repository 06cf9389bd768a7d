// Reads markup as WordPress's own editor does, and complains where that editor would. `validate.cjs SAMPLES.json NODE_MODULES`.
const { readFileSync } = require("node:fs");
const editor = require("./editor.cjs");

const [samplesPath, modules] = process.argv.slice(2);
const { parse, serialize, said } = editor(modules);

function faults(block) {
  const inner = block.innerBlocks.flatMap(faults);
  if (block.name === null || block.name === "core/missing") return [`unknown: ${block.originalContent}`, ...inner];
  return block.isValid ? inner : [`${block.name} is not valid: ${block.originalContent}`, ...inner];
}

const samples = JSON.parse(readFileSync(samplesPath, "utf8"));
let failures = 0;
for (const { name, text, fresh } of samples) {
  said.length = 0;
  const blocks = parse(text);
  const found = blocks.flatMap(faults);
  if (blocks.length === 0) found.push("no blocks");
  if (fresh && said.length > 0) found.push(`it says: ${said.join("\n").slice(0, 600)}`);
  // What is new is written by the other editor in the same way but for the order of attributes, of classes and of declarations.
  if (fresh && tidy(serialize(blocks)) !== tidy(text)) found.push(`it writes:\n${serialize(blocks)}`);
  if (found.length === 0) continue;
  failures++;
  process.stdout.write(`-- ${name}\n${text}\n   ${found.join("\n   ")}\n\n`);
}
process.stdout.write(`${samples.length - failures} of ${samples.length} samples are as WordPress's own editor takes them\n`);
process.exit(failures === 0 && samples.length > 50 ? 0 : 1);

function tidy(markup) {
  const ordered = markup.replace(/(<!-- wp:\S+ )({.*})(?= \/?-->)/g, (_, start, json) => {
    const attributes = JSON.parse(json);
    return start + JSON.stringify(Object.fromEntries(Object.keys(attributes).sort().map((name) => [name, attributes[name]])));
  });
  return ordered.replace(/<[a-z][^>]*>/g, (tag) => {
    const attributes = tag.replaceAll("&lt;", "<").match(/[\w-]+(?:="[^"]*")?/g).slice(1);
    const inOrder = (one, start, between) => `${start}${one.slice(start.length, -1).split(between).sort().join(between)}"`;
    const sorted = attributes.map((one) => (one.startsWith("class=") ? inOrder(one, 'class="', " ") : one.startsWith("style=") ? inOrder(one, 'style="', ";") : one)).sort();
    return `${tag.match(/^<[\w-]+/)[0]} ${sorted.join(" ")}>`;
  });
}
