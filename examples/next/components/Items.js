// A list of records, and the way to its next page.
import { plain } from '../lib/inline.js';

export default function Items({ items, pages, page, path, query = {} }) {
  const to = (number) => `${path}?${new URLSearchParams({ ...query, page: number })}`;
  return (
    <>
      {items.map((item) => (
        <article key={item.id}>
          <h2><a href={item.link}>{plain(item.title.rendered)}</a></h2>
          <time dateTime={item.date}>{new Date(item.date).toLocaleDateString('en', { dateStyle: 'long' })}</time>
          <p>{plain(item.excerpt?.rendered)}</p>
        </article>
      ))}
      {items.length === 0 && <p>Nothing here yet.</p>}
      <nav aria-label="Pages">
        {page > 1 && <a rel="prev" href={to(page - 1)}>Newer</a>}
        {page < pages && <a rel="next" href={to(page + 1)}>Older</a>}
      </nav>
    </>
  );
}
