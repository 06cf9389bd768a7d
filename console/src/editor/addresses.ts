/** What people write for an address. */

/** What is written as an address: with a scheme, or a path, a fragment or a query of this site; null for words. */
export function fullAddress(text: string): string | null {
  const address = text.trim();
  if (/\s/.test(address)) return null;
  if (/^www\.[^.]/i.test(address)) return `https://${address}`;
  if (/^[^\s@/:]+@[^\s@/:]+\.[^\s@/:]+$/.test(address)) return `mailto:${address}`;
  return /^(?:[a-z][a-z0-9+.-]*:.|\/|#.|\?.)/i.test(address) ? address : null;
}

/** The address of a host that is written without its scheme, such as `example.org/page`. */
export function hostAddress(text: string): string | null {
  return /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}(?::\d{1,5})?(?:[/?#]\S*)?$/u.test(text.trim()) ? `https://${text.trim()}` : null;
}
