/** Hooks that screens share. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "../api/failure";

export interface Loaded<T> {
  /** What came last; stays while it is loaded again. */
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

/** Loads something whenever one of `needs` changes; what is no longer wanted is given up. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, needs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error: unknown; loading: boolean }>({ error: null, loading: true });
  const [times, setTimes] = useState(0);
  // Before the browser paints: the request is on its way sooner, and an answer that is there already is painted at once.
  useLayoutEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, error: null, loading: true }));
    load(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, error: null, loading: false });
      },
      (error: unknown) => {
        if (!abort.signal.aborted && !isAbort(error)) setState((before) => ({ ...before, error, loading: false }));
      },
    );
    return () => abort.abort();
  }, [...needs, times]);
  return { data: state.data, error: state.error, loading: state.loading, reload: () => setTimes((n) => n + 1) };
}

/** A value that follows another one once it has been still for a while. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** The newest version of a function, under one identity. */
export function useLatest<T>(value: T): { readonly current: T } {
  const latest = useRef(value);
  latest.current = value;
  return latest;
}

/** Runs something once the browser has nothing more urgent to do; browsers without a sign of it wait a moment. */
export function whenIdle(run: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(run, { timeout: 2000 });
  else setTimeout(run, 500);
}
