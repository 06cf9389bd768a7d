/**
 * Numbers. What is typed stays as it is typed, even where it is no number: the form then says so, and nothing is lost.
 * An input of the type `number` would hide such a text, and change its value when somebody scrolls.
 */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { ControlProps } from "./types";

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
/** Larger integers would be sent as others. */
const INTEGER = /^[+-]?\d{1,15}$/;

function parsed(text: string, integer: boolean): number | string {
  const trimmed = text.trim().replace(/^(-?\d*),(\d+)$/, "$1.$2");
  return (integer ? INTEGER : NUMBER).test(trimmed) ? Number(trimmed) : text;
}

function NumberInput({ field, ids, value, onChange, readOnly, integer }: ControlProps & { integer: boolean }): JSX.Element {
  // "1." and "1.0" are the number 1, and must stay while somebody types on.
  const typed = useRef<{ text: string; value: unknown }>({ text: "", value: Symbol() });
  const shown = typed.current.value === value ? typed.current.text : value === null || value === undefined ? "" : String(value);
  const change = (text: string): void => {
    const next = text.trim() === "" ? (field.nullable ? null : text.trim()) : parsed(text, integer);
    typed.current = { text, value: next };
    onChange(next);
  };
  const step = (by: number): void => {
    const { minimum = -Infinity, maximum = Infinity, multipleOf = 1 } = field.bounds;
    const next = Math.min(maximum, Math.max(minimum, (typeof value === "number" ? value : 0) + by * multipleOf));
    change(String(Number(next.toFixed(10))));
  };
  return (
    <input
      {...ids}
      type="text"
      class="input input-number"
      inputMode={integer ? "numeric" : "decimal"}
      role="spinbutton"
      aria-valuenow={typeof value === "number" ? value : undefined}
      aria-valuemin={field.bounds.minimum}
      aria-valuemax={field.bounds.maximum}
      autocomplete="off"
      value={shown}
      readOnly={readOnly}
      onInput={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
        if (by !== 0 && !readOnly) {
          event.preventDefault();
          step(by);
        }
      }}
    />
  );
}

export function IntegerControl(props: ControlProps): JSX.Element {
  return <NumberInput {...props} integer />;
}

export function NumberControl(props: ControlProps): JSX.Element {
  return <NumberInput {...props} integer={false} />;
}
