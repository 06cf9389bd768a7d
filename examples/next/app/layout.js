import Menu from '../components/Menu.js';
import { menu, site } from '../lib/cms.js';
import { plain } from '../lib/inline.js';
import './site.css';

// Each page is made when it is asked for, so that a change is seen at once and the build needs no server.
export const dynamic = 'force-dynamic';

export async function generateMetadata() {
  const name = plain((await site()).name);
  return { title: { default: name, template: `%s – ${name}` } };
}

export default async function Layout({ children }) {
  const [{ name }, items] = await Promise.all([site(), menu('main')]);
  return (
    <html lang="en">
      <body>
        <header><a href="/">{plain(name)}</a>{items.length > 0 && <nav aria-label="Main"><Menu items={items} /></nav>}</header>
        <main>{children}</main>
      </body>
    </html>
  );
}
