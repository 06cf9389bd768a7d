// A content as its blocks: those that most contents have are elements of this site, all others are as the server shows them.
import { isSafe } from '../lib/inline.js';
import Inline from './Inline.js';

const address = (url) => (isSafe(url) ? url : undefined);

export default function Blocks({ blocks }) {
  return blocks.map((block, at) => <Block key={at} {...block} />);
}

function Block({ name, attributes: a, inner, html }) {
  const Heading = `h${Math.min(Math.max(Number(a.level) || 2, 1), 6)}`;
  const List = a.ordered ? 'ol' : 'ul';
  const picture = <img src={address(a.url)} alt={a.alt} loading="lazy" />;
  switch (name) {
    case 'core/paragraph':
      return <p><Inline html={a.content} /></p>;
    case 'core/heading':
      return <Heading id={a.anchor}><Inline html={a.content} /></Heading>;
    case 'core/list':
      return <List><Blocks blocks={inner} /></List>;
    case 'core/list-item':
      return <li><Inline html={a.content} /><Blocks blocks={inner} /></li>;
    case 'core/quote':
      return <blockquote><Blocks blocks={inner} />{a.citation && <cite><Inline html={a.citation} /></cite>}</blockquote>;
    case 'core/code':
      return <pre><code><Inline html={a.content} /></code></pre>;
    case 'core/preformatted':
      return <pre><Inline html={a.content} /></pre>;
    case 'core/separator':
      return <hr />;
    case 'core/image':
      return (
        <figure>
          {a.href ? <a href={address(a.href)}>{picture}</a> : picture}
          {a.caption && <figcaption><Inline html={a.caption} /></figcaption>}
        </figure>
      );
    case 'core/gallery':
      return <div className="gallery"><Blocks blocks={inner} /></div>;
    case 'core/buttons':
      return <p className="buttons"><Blocks blocks={inner} /></p>;
    case 'core/button':
      return <a className="button" href={address(a.url)}><Inline html={a.text} /></a>;
    case 'core/group':
    case 'core/column':
      return <div><Blocks blocks={inner} /></div>;
    case 'core/columns':
      return <div className="columns"><Blocks blocks={inner} /></div>;
    case 'core/table':
      return <table><Rows as="thead" rows={a.head} /><Rows as="tbody" rows={a.body} /><Rows as="tfoot" rows={a.foot} /></table>;
    default:
      return <div dangerouslySetInnerHTML={{ __html: html ?? '' }} />;
  }
}

function Rows({ as: Part, rows }) {
  if (!rows?.length) return null;
  return (
    <Part>
      {rows.map((row, at) => <tr key={at}>{row.cells.map((cell, n) => {
        const Cell = cell.tag === 'th' ? 'th' : 'td';
        return <Cell key={n} colSpan={cell.colspan} rowSpan={cell.rowspan}><Inline html={cell.content} /></Cell>;
      })}</tr>)}
    </Part>
  );
}
