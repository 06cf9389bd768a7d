/** A list of anything. Items are moved by dragging their handles, and by the arrow keys on them. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import type { Field } from "../model/fields";
import { empty, initial } from "../model/values";
import { announce, Button, Icon } from "../ui";
import { Nested } from "./nested";
import type { ControlProps } from "./types";

/** A copy with one item at another place. */
export function moved<T>(items: readonly T[], from: number, to: number): T[] {
  const copy = [...items];
  copy.splice(to, 0, ...copy.splice(from, 1));
  return copy;
}

/** Each item keeps a key of its own while it is moved, so that its input keeps the focus. */
function useKeys(count: number): { keys: number[]; set(keys: number[]): void; fresh(): number } {
  const last = useRef(0);
  const keys = useRef<number[]>([]);
  while (keys.current.length < count) {
    keys.current.push(++last.current);
  }
  keys.current.length = count;
  return { keys: keys.current, set: (next) => (keys.current = next), fresh: () => ++last.current };
}

interface Moves {
  move(from: number, to: number): void;
  remove(place: number): void;
  add(): void;
  focus(place: number, what: string): void;
}

/** What is done with the items, and where the focus goes then. */
function useMoves({ field, onChange }: ControlProps, item: Field | null, items: unknown[], keys: ReturnType<typeof useKeys>, box: { current: HTMLOListElement | null }): Moves {
  const focus = (place: number, what: string): void => {
    requestAnimationFrame(() => box.current?.children[place]?.querySelector<HTMLElement>(what)?.focus());
  };
  return {
    focus,
    move(from, to) {
      if (to < 0 || to >= items.length || from === to) {
        return;
      }
      keys.set(moved(keys.keys, from, to));
      onChange(moved(items, from, to));
      announce(t("forms.moved", { place: to + 1, count: items.length }));
    },
    remove(place) {
      keys.set(keys.keys.filter((_, index) => index !== place));
      onChange(items.filter((_, index) => index !== place));
      announce(t("forms.removed", { name: t("forms.item", { place: place + 1 }) }));
      focus(Math.min(place, items.length - 2), ".list-handle");
    },
    add() {
      if (item !== null && items.length < (field.bounds.maxItems ?? Infinity)) {
        keys.set([...keys.keys, keys.fresh()]);
        onChange([...items, initial({ ...item, nullable: false }) ?? empty(item)]);
        focus(items.length, "input, select, textarea, button:not(.list-handle)");
      }
    },
  };
}

export function List(props: ControlProps): JSX.Element {
  const { field, at, ids, value, onChange, readOnly, form } = props;
  const items: unknown[] = Array.isArray(value) ? value : [];
  const keys = useKeys(items.length);
  const [dragged, setDragged] = useState<number | null>(null);
  const box = useRef<HTMLOListElement>(null);
  const item = field.item;
  const moves = useMoves(props, item, items, keys, box);
  if (item === null) {
    return <p class="field-help">{t("forms.no_members")}</p>;
  }
  const drop = (event: DragEvent, place: number): void => {
    event.preventDefault();
    if (dragged !== null) {
      moves.move(dragged, place);
    }
    setDragged(null);
  };
  return (
    <div class="list" id={ids.id}>
      {items.length > 0 && (
        <ol class="list-items" ref={box}>
          {items.map((one, place) => (
            <li
              key={keys.keys[place]}
              class={`list-item${dragged === place ? " list-dragged" : ""}`}
              onDragOver={(event) => dragged !== null && event.preventDefault()}
              onDrop={(event) => drop(event, place)}
            >
              {!readOnly && <Handle place={place} count={items.length} moves={moves} onDrag={setDragged} />}
              <div class="list-value">
                <Nested
                  field={item}
                  at={`${at}.${place}`}
                  label={t("forms.item", { place: place + 1 })}
                  bare={item.kind !== "object"}
                  value={one}
                  onChange={(next) => onChange(items.map((old, index) => (index === place ? next : old)))}
                  readOnly={readOnly}
                  form={form}
                />
              </div>
              {!readOnly && <Button kind="quiet" small icon="close" label={t("ui.remove", { name: t("forms.item", { place: place + 1 }) })} onClick={() => moves.remove(place)} />}
            </li>
          ))}
        </ol>
      )}
      {!readOnly && items.length < (field.bounds.maxItems ?? Infinity) && (
        <div>
          <Button small icon="add" onClick={moves.add}>
            {t("forms.add_item")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** What an item is moved by: with the pointer, or with the arrow keys. */
function Handle({ place, count, moves, onDrag }: { place: number; count: number; moves: Moves; onDrag(place: number | null): void }): JSX.Element {
  return (
    <button
      type="button"
      class="button button-quiet button-icon button-small list-handle"
      aria-label={t("forms.move", { name: t("forms.item", { place: place + 1 }) })}
      title={t("forms.move_hint")}
      draggable
      onDragStart={(event) => {
        event.dataTransfer?.setData("text/plain", String(place));
        onDrag(place);
      }}
      onDragEnd={() => onDrag(null)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
        if (by !== 0) {
          event.preventDefault();
          moves.move(place, place + by);
          moves.focus(Math.max(0, Math.min(count - 1, place + by)), ".list-handle");
        }
      }}
    >
      <Icon name="drag" size={16} />
    </button>
  );
}
