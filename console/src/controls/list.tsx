/** A list of anything. Items are moved by dragging, by buttons, and by Alt with an arrow key. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { t } from "../i18n";
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

export function List({ field, at, ids, value, onChange, readOnly, form }: ControlProps): JSX.Element {
  const items: unknown[] = Array.isArray(value) ? value : [];
  const { keys, set, fresh } = useKeys(items.length);
  const [dragged, setDragged] = useState<number | null>(null);
  const box = useRef<HTMLOListElement>(null);
  const item = field.item;
  if (item === null) {
    return <p class="field-help">{t("forms.no_members")}</p>;
  }
  const focus = (place: number, what: string): void => {
    requestAnimationFrame(() => box.current?.children[place]?.querySelector<HTMLElement>(what)?.focus());
  };
  const move = (from: number, to: number): void => {
    if (to < 0 || to >= items.length || from === to) {
      return;
    }
    set(moved(keys, from, to));
    onChange(moved(items, from, to));
    announce(t("forms.moved", { place: to + 1, count: items.length }));
  };
  const remove = (place: number): void => {
    set(keys.filter((_, index) => index !== place));
    onChange(items.filter((_, index) => index !== place));
    announce(t("forms.removed", { name: t("forms.item", { place: place + 1 }) }));
    focus(Math.min(place, items.length - 2), ".list-handle");
  };
  const add = (): void => {
    set([...keys, fresh()]);
    onChange([...items, initial({ ...item, nullable: false }) ?? empty(item)]);
    focus(items.length, "input, select, textarea, button:not(.list-handle)");
  };
  const full = field.bounds.maxItems !== undefined && items.length >= field.bounds.maxItems;
  return (
    <div class="list" id={ids.id}>
      {items.length > 0 && (
        <ol class="list-items" ref={box}>
          {items.map((one, place) => (
            <li
              key={keys[place]}
              class={`list-item${dragged === place ? " list-dragged" : ""}`}
              onDragOver={(event) => {
                if (dragged !== null) {
                  event.preventDefault();
                }
              }}
              onDrop={(event) => {
                event.preventDefault();
                if (dragged !== null) {
                  move(dragged, place);
                }
                setDragged(null);
              }}
            >
              {!readOnly && (
                <button
                  type="button"
                  class="button button-quiet button-icon button-small list-handle"
                  aria-label={t("forms.move", { name: t("forms.item", { place: place + 1 }) })}
                  title={t("forms.move_hint")}
                  draggable
                  onDragStart={(event) => {
                    event.dataTransfer?.setData("text/plain", String(place));
                    setDragged(place);
                  }}
                  onDragEnd={() => setDragged(null)}
                  onKeyDown={(event) => {
                    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
                    if (by !== 0) {
                      event.preventDefault();
                      move(place, place + by);
                      focus(Math.max(0, Math.min(items.length - 1, place + by)), ".list-handle");
                    }
                  }}
                >
                  <Icon name="drag" size={16} />
                </button>
              )}
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
              {!readOnly && <Button kind="quiet" small icon="close" label={t("ui.remove", { name: t("forms.item", { place: place + 1 }) })} onClick={() => remove(place)} />}
            </li>
          ))}
        </ol>
      )}
      {!readOnly && !full && (
        <div>
          <Button small icon="add" onClick={add}>
            {t("forms.add_item")}
          </Button>
        </div>
      )}
    </div>
  );
}
