/** Which resources have changed since the page was loaded, so that lists and counts ask again. */

import { signal } from "@preact/signals";

const versions = signal<Record<string, number>>({});

/** Records of a resource were created, changed or deleted. */
export function touched(resource: string): void {
  const before = versions.peek();
  versions.value = { ...before, [resource]: (before[resource] ?? 0) + 1 };
}

/** Grows with each change of the resource; components that read it are rendered again. */
export function versionOf(resource: string): number {
  return versions.value[resource] ?? 0;
}

/** Grows with each change of any resource. */
export function versionOfAll(): number {
  return Object.values(versions.value).reduce((sum, version) => sum + version, 0);
}
