/// <reference types="node" />
/** Contents to try things with: the export for theme tests where it is there, and the fixtures. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** The export of WordPress for theme tests may not be part of the repository. */
const themes = `${root}../shared/data/themeunittestdata.wordpress.xml`;

export interface Sample {
  name: string;
  text: string;
}

function ofExport(path: string): Sample[] {
  if (!existsSync(path)) return [];
  const xml = readFileSync(path, "utf8");
  const name = path.slice(path.lastIndexOf("/") + 1);
  return [...xml.matchAll(/<(?:content|excerpt):encoded>([\s\S]*?)<\/(?:content|excerpt):encoded>/g)].map((match, index) => ({
    name: `${name} ${index}`,
    text: (match[1] as string).replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, "$1"),
  }));
}

/** Every text in the scenarios that has markup. */
function ofScenarios(): Sample[] {
  const folder = `${root}fixtures/scenarios/`;
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith(".toml"));
  return files.flatMap((name) => {
    const texts = readFileSync(folder + name, "utf8").match(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/g) ?? [];
    return texts.filter((text) => text.includes("<")).map((text) => ({ name, text: unquoted(text) }));
  });
}

function unquoted(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.slice(1, -1);
  }
}

export const themeTests = ofExport(themes);
export const fixtures = [...ofExport(`${root}fixtures/demo.xml`), ...ofExport(`${root}fixtures/import.xml`), ...ofScenarios()];
