/** Screens that are loaded when they are shown. */

import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failed, Skeleton } from "../ui";

/** A component from a module of its own; once loaded it is shown at once. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => JSX.Element {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P): JSX.Element {
    const [, again] = useState(0);
    const [error, setError] = useState<unknown>(null);
    const [attempt, setAttempt] = useState(0);
    useEffect(() => {
      if (loaded !== null) return;
      load().then((component) => {
        loaded = component;
        again((n) => n + 1);
      }, setError);
    }, [attempt]);
    if (loaded !== null) {
      const Loaded = loaded;
      return <Loaded {...props} />;
    }
    const retry = (): void => {
      setError(null);
      setAttempt((n) => n + 1);
    };
    return error === null ? <Skeleton /> : <Failed error={error} onRetry={retry} />;
  };
}
