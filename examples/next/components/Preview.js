'use client';
// What a preview has beside its record: a notice, and the record again whenever the console tells of a change.
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';

export default function Preview({ origin }) {
  const router = useRouter();
  useEffect(() => {
    const onMessage = (event) => {
      if (event.origin === origin && event.data?.type === 'cms-server:changed') router.refresh();
    };
    addEventListener('message', onMessage);
    // The console's pane need not load the page again.
    if (parent !== window) parent.postMessage({ type: 'cms-server:refreshes' }, origin);
    return () => removeEventListener('message', onMessage);
  }, [origin, router]);
  return <p className="preview">Preview. Readers do not see this yet.</p>;
}
