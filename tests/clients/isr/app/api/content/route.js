// The receiver of the webhook: what an event names is made again with the next visit.
import { createHmac } from 'node:crypto';
import { revalidateTag } from 'next/cache';
import { named } from '../../../data.mjs';

export async function POST(request) {
  const body = await request.text();
  const [id, at, signatures] = ['id', 'timestamp', 'signature'].map((name) => request.headers.get(`webhook-${name}`) ?? '');
  const key = Buffer.from(process.env.CMS_SECRET.replace('whsec_', ''), 'base64');
  const own = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  if (!signatures.split(' ').includes(`v1,${own}`)) return new Response(null, { status: 401 });
  const told = JSON.parse(body);
  for (const { addresses } of told.events ?? [told]) {
    if (addresses.all) revalidateTag('all', { expire: 0 });
    for (const address of addresses.front) revalidateTag(named(decodeURI(new URL(address).pathname)), { expire: 0 });
  }
  return new Response(null, { status: 204 });
}
