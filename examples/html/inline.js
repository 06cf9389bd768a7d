// Text with inline markup, as blocks have it, read into a tree: components write it, and nothing else comes through.

const TAGS = ['a', 'abbr', 'b', 'br', 'cite', 'code', 'del', 'em', 'i', 'ins', 'kbd', 'mark', 's', 'small', 'strong', 'sub', 'sup', 'u'];
const ATTRIBUTES = { a: ['href', 'rel', 'target'], abbr: ['title'], mark: ['class', 'style'] };
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', hellip: '…' };

/** A text without entities. */
export function decode(text) {
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? parseInt(hex, 16) : null;
    if (code !== null) return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    return ENTITIES[name.toLowerCase()] ?? whole;
  });
}

/** A text without markup. */
export const plain = (html) => decode(String(html ?? '').replace(/<[^>]*>/g, ''));

/** Nodes of a text: strings, and `{tag, attributes, children}`. Tags that are not known leave what is inside them. */
export function parse(html) {
  const root = { children: [] };
  const open = [root];
  for (const [, closes, name, rest, text] of String(html ?? '').matchAll(/<(\/?)([a-z0-9]+)((?:"[^"]*"|'[^']*'|[^>"'])*)>|([^<]+|<)/gi)) {
    const tag = name?.toLowerCase();
    if (text) open.at(-1).children.push(decode(text));
    else if (!TAGS.includes(tag)) continue;
    else if (closes) {
      const at = open.findLastIndex((node) => node.tag === tag);
      if (at > 0) open.length = at;
    } else {
      const node = { tag, attributes: attributes(tag, rest), children: [] };
      open.at(-1).children.push(node);
      if (tag !== 'br') open.push(node);
    }
  }
  return root.children;
}

function attributes(tag, text) {
  const found = {};
  for (const [, name, double, single, bare] of text.matchAll(/([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi)) {
    const value = decode(double ?? single ?? bare ?? '');
    if (ATTRIBUTES[tag]?.includes(name) && !(name === 'href' && !isSafe(value))) found[name] = value;
  }
  return found;
}

/** Whether an address opens a page, a mail or a telephone, and runs nothing. */
export function isSafe(address) {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(address ?? '');
  return !scheme || ['http', 'https', 'mailto', 'tel'].includes(scheme[1].toLowerCase());
}
