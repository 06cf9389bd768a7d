import { useEffect, useRef } from "preact/hooks";
import { applied, shown } from "./source";
import type { EditorProps } from "./types";

/** The editor of a record's content. */
export function Editor(props: EditorProps) {
  const text = useRef(props.value);
  const area = useRef<HTMLTextAreaElement>(null);
  const { onChange, handle } = props;

  useEffect(() => {
    if (props.value === text.current) return;
    text.current = props.value;
    if (area.current !== null) area.current.value = shown(props.value);
  }, [props.value]);

  useEffect(() => {
    handle?.({ value: () => text.current, focus: () => area.current?.focus() });
    return () => handle?.(null);
  }, [handle]);

  return (
    <textarea
      ref={area}
      aria-label={props.label}
      aria-describedby={props.describedBy}
      aria-invalid={props.invalid ? "true" : undefined}
      readOnly={props.readOnly ?? false}
      placeholder={props.placeholder ?? ""}
      rows={20}
      defaultValue={shown(props.value)}
      onInput={(event) => {
        props.onTyping?.();
        text.current = applied(text.current, event.currentTarget.value);
        onChange(text.current);
      }}
    />
  );
}
