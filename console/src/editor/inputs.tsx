/** Fields of the editor's dialogs. */

import type { JSX, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { FieldIds } from "../ui";

interface LineProps {
  ids: FieldIds;
  value: string;
  mode?: "text" | "url" | "numeric";
  /** Gets the focus when the dialog opens, rather than the button that closes it. */
  first?: boolean;
  /** The list of choices below it, and the one that Enter takes. */
  list?: { id: string; active: string | null };
  onText(text: string): void;
}

function useFirst<T extends HTMLElement>(first: boolean): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    if (!first) return;
    const frame = requestAnimationFrame(() => element.current?.focus());
    return () => cancelAnimationFrame(frame);
  }, []);
  return element;
}

export function Line({ ids, value, mode, first, list, onText }: LineProps): JSX.Element {
  const element = useFirst<HTMLInputElement>(first === true);
  const combobox: JSX.IntrinsicElements["input"] =
    list === undefined
      ? {}
      : { role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": list.active !== null, "aria-activedescendant": list.active ?? undefined };
  return <input {...ids} {...combobox} ref={element} class="input" type="text" inputMode={mode ?? "text"} value={value} onInput={(event) => onText(event.currentTarget.value)} />;
}

export function Markup({ ids, value, onText }: LineProps): JSX.Element {
  const element = useFirst<HTMLTextAreaElement>(true);
  return (
    <textarea
      {...ids}
      ref={element}
      class="textarea editor-source"
      rows={14}
      spellcheck={false}
      value={value}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}
