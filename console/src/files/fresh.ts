/** Addresses of files that were replaced since the page was loaded. A page keeps what it has shown of an address. */

import { signal } from "@preact/signals";

const replaced = signal<ReadonlyMap<string, number>>(new Map());

function pathOf(address: string): string {
  return new URL(address, location.origin).pathname;
}

/** An address whose file the page does not have yet. */
export function fresh(address: string): string {
  const version = replaced.value.size === 0 ? undefined : replaced.value.get(pathOf(address));
  return version === undefined ? address : `${address}${address.includes("?") ? "&" : "?"}v=${version}`;
}

/** The browser reads these addresses again, for this page and later ones. */
export async function refresh(addresses: readonly string[]): Promise<void> {
  const own = addresses.filter((address) => new URL(address, location.origin).origin === location.origin);
  await Promise.allSettled(own.map((address) => fetch(address, { cache: "reload" })));
  const version = Date.now();
  replaced.value = new Map([...replaced.peek(), ...addresses.map((address) => [pathOf(address), version] as const)]);
}
