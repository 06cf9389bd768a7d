import { isSafe, plain } from '../lib/inline.js';

export default function Menu({ items }) {
  return (
    <ul>
      {items.map((item) => (
        <li key={item.id}>
          <a href={isSafe(item.url) ? item.url : undefined} target={item.target || undefined}>{plain(item.title)}</a>
          {item.items.length > 0 && <Menu items={item.items} />}
        </li>
      ))}
    </ul>
  );
}
