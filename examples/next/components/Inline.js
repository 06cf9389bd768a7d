// Text with inline markup.
import { Fragment } from 'react';
import { parse } from '../lib/inline.js';

export default function Inline({ html, nodes = parse(html) }) {
  return nodes.map((node, at) => {
    if (typeof node === 'string') return <Fragment key={at}>{node}</Fragment>;
    const Tag = node.tag;
    return node.tag === 'br' ? <br key={at} /> : <Tag key={at} {...inReact(node.attributes)}><Inline nodes={node.children} /></Tag>;
  });
}

/** Attributes by the names and values that React knows them by. */
function inReact({ class: className, style, ...rest }) {
  return { ...rest, ...(className && { className }), ...(style && { style: declarations(style) }) };
}

function declarations(style) {
  const pairs = [...style.matchAll(/([a-z-]+)\s*:\s*([^;]+)/gi)];
  return Object.fromEntries(pairs.map(([, name, value]) => [name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase()), value.trim()]));
}
