/**
 * All blocks: each file of this folder but this one has the kinds of a block. A block is added by adding a file.
 */
import { type Kinds, kindsOf, type Read, type ReadElement } from "../kind";
import { makeSchema, schema } from "../schema";

const files = import.meta.glob<{ default: Kinds }>(["./*.ts", "./*.tsx", "!./index.ts"], { eager: true });
const kinds = Object.values(files).flatMap((file) => Object.entries(file.default));
makeSchema(Object.fromEntries(kinds.sort(([, a], [, b]) => (a.order ?? 100) - (b.order ?? 100))));

export { schema };

/** Readers by names of blocks. */
export const blockReaders = new Map<string, Read>();
/** Readers of markup without delimiters by names of elements, in order. */
export const elementReaders = new Map<string, ReadElement[]>();

for (const [, { read, elements }] of kindsOf(schema)) {
  for (const [name, one] of Object.entries(read ?? {})) blockReaders.set(name, one);
  for (const [name, one] of Object.entries(elements ?? {})) elementReaders.set(name, [...(elementReaders.get(name) ?? []), one]);
}
