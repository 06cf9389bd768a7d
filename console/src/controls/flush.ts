/** Controls that tell their value late, such as with Enter, are asked before it is needed. */

import { useEffect, useRef } from "preact/hooks";
import type { FormScope } from "./types";

export function useFlush(form: FormScope, flush: (settled: boolean) => void): void {
  const latest = useRef(flush);
  latest.current = flush;
  useEffect(() => form.onFlush((settled) => latest.current(settled)), [form]);
}
