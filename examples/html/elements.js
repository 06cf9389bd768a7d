// Elements of the page. Whatever the server says is set as text or as an attribute, but for blocks that this site does not know.
import { isSafe, parse, plain } from './inline.js';

const address = (url) => (isSafe(url) ? url : undefined);

/** An element; attributes without a value are left out, and so are children that are `null`, `false` or `undefined`. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value || value === '') made.setAttribute(name, value);
  made.append(...children.flat(Infinity).filter((child) => child || child === 0));
  return made;
}

/** Text with inline markup. */
const inline = (html) => written(parse(html));
function written(nodes) {
  return nodes.map((node) => (typeof node === 'string' ? node : element(node.tag, node.attributes, written(node.children))));
}

/** A content as its blocks: those that most contents have are elements of this site, all others are as the server shows them. */
export function content(blocks = []) {
  return blocks.map(({ name, attributes: a, inner, html }) => {
    const picture = () => element('img', { src: address(a.url), alt: a.alt ?? '', loading: 'lazy' });
    switch (name) {
      case 'core/paragraph':
        return element('p', {}, inline(a.content));
      case 'core/heading':
        return element(`h${Math.min(Math.max(Number(a.level) || 2, 1), 6)}`, { id: a.anchor }, inline(a.content));
      case 'core/list':
        return element(a.ordered ? 'ol' : 'ul', {}, content(inner));
      case 'core/list-item':
        return element('li', {}, inline(a.content), content(inner));
      case 'core/quote':
        return element('blockquote', {}, content(inner), a.citation && element('cite', {}, inline(a.citation)));
      case 'core/code':
        return element('pre', {}, element('code', {}, inline(a.content)));
      case 'core/preformatted':
        return element('pre', {}, inline(a.content));
      case 'core/separator':
        return element('hr');
      case 'core/image':
        return element('figure', {},
          a.href ? element('a', { href: address(a.href) }, picture()) : picture(),
          a.caption && element('figcaption', {}, inline(a.caption)));
      case 'core/gallery':
        return element('div', { class: 'gallery' }, content(inner));
      case 'core/buttons':
        return element('p', { class: 'buttons' }, content(inner));
      case 'core/button':
        return element('a', { class: 'button', href: address(a.url) }, inline(a.text));
      case 'core/group':
      case 'core/column':
        return element('div', {}, content(inner));
      case 'core/columns':
        return element('div', { class: 'columns' }, content(inner));
      case 'core/table':
        return element('table', {}, rows('thead', a.head), rows('tbody', a.body), rows('tfoot', a.foot));
      default: {
        const template = document.createElement('template');
        template.innerHTML = html ?? '';
        return template.content;
      }
    }
  });
}

function rows(part, list) {
  const cell = ({ tag, colspan, rowspan, content: html }) => element(tag === 'th' ? 'th' : 'td', { colspan, rowspan }, inline(html));
  return list?.length > 0 && element(part, {}, list.map((row) => element('tr', {}, row.cells.map(cell))));
}

const time = (date) => element('time', { datetime: date }, new Date(date).toLocaleDateString('en', { dateStyle: 'long' }));

/** A record. */
export function record({ type, title, name, date, content: { blocks } }) {
  return [element('h1', {}, plain(title?.rendered ?? name)), type === 'post' && time(date), content(blocks)];
}

/** A list of records, and the way to its next page; `to` is the address of a page. */
export function list({ items, pages, page, to }) {
  return [
    items.map((item) => element('article', {},
      element('h2', {}, element('a', { href: item.link }, plain(item.title.rendered))),
      time(item.date),
      element('p', {}, plain(item.excerpt?.rendered)))),
    items.length === 0 && element('p', {}, 'Nothing here yet.'),
    element('nav', { 'aria-label': 'Pages' },
      page > 1 && element('a', { rel: 'prev', href: to(page - 1) }, 'Newer'),
      page < pages && element('a', { rel: 'next', href: to(page + 1) }, 'Older')),
  ];
}

/** A menu as a tree. */
export function menu(items) {
  return element('ul', {}, items.map((item) => element('li', {},
    element('a', { href: address(item.url), target: item.target || undefined }, plain(item.title)),
    item.items.length > 0 && menu(item.items))));
}
