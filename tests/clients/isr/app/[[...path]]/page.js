// Every page: made once and kept, until a webhook names its address.
import { appendFileSync } from 'node:fs';
import { data, named } from '../../data.mjs';

export const dynamic = 'force-static';
export const generateStaticParams = () => [];

export default async function Page({ params }) {
  const { path = [] } = await params;
  const address = `/${path.map(decodeURIComponent).join('/')}`;
  appendFileSync(process.env.MADE, `${address}\n`);
  const kept = () => ({ cache: 'force-cache', next: { tags: ['all', named(address)] } });
  const shown = await data(process.env.CMS_URL, address, kept);
  return <pre>{JSON.stringify(shown)}</pre>;
}
