/** Names of declarations as a tree. */

import type { Declaration } from "../api/description";

export interface Branch {
  /** The last part of the name. */
  name: string;
  declaration: Declaration | null;
  children: Branch[];
}

/** Declarations whose name or file contains a text. */
export function matching(all: readonly Declaration[], text: string): Declaration[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [...all];
  return all.filter((one) => one.name.toLowerCase().includes(wanted) || one.file.toLowerCase().includes(wanted));
}

/** A tree by the dots of the names; names in quotes may contain dots. */
export function branches(all: readonly Declaration[]): Branch[] {
  const roots: Branch[] = [];
  for (const declaration of all) {
    let level = roots;
    let branch: Branch | null = null;
    for (const part of partsOf(declaration.name)) {
      branch = level.find((one) => one.name === part) ?? null;
      if (branch === null) {
        branch = { name: part, declaration: null, children: [] };
        level.push(branch);
      }
      level = branch.children;
    }
    if (branch !== null) branch.declaration ??= declaration;
  }
  return roots;
}

export function partsOf(name: string): string[] {
  return name.match(/"[^"]*"|[^.]+/g) ?? [name];
}
