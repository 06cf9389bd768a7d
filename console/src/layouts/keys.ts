/** Keys within the rows of a list: one row has the focus, arrows or j and k lead on. */

import { useState } from "preact/hooks";
import { navigate } from "../router";
import type { LayoutProps, Row } from "./types";

export interface RowKeys {
  /** Of a row: it is reached by Tab if it was the last that had the focus. */
  props: (row: Row, place: number) => {
    tabIndex: number;
    "data-row": number;
    onFocus: () => void;
    onKeyDown: (event: KeyboardEvent) => void;
  };
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 };

export function useRowKeys(props: Pick<LayoutProps, "rows" | "selected" | "selectable" | "onSelect" | "tree">): RowKeys {
  const [active, setActive] = useState(0);
  const { rows } = props;
  const last = Math.max(0, rows.length - 1);
  const here = Math.min(active, last);

  const pressed = (event: KeyboardEvent, row: Row, place: number): void => {
    // Keys in a field or a button of the row are theirs.
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey) return;
    if (event.altKey) return moved(event, row);
    const step = STEPS[event.key];
    if (step !== undefined || event.key === "Home" || event.key === "End") {
      event.preventDefault();
      const next = step === undefined ? (event.key === "Home" ? 0 : last) : Math.min(Math.max(place + step, 0), last);
      if (event.shiftKey && props.selectable) select([row, rows[next]]);
      focus(event.currentTarget as HTMLElement, next);
    } else if ((event.key === " " || event.key === "x") && props.selectable) {
      event.preventDefault();
      if (row.fixed === true) return;
      props.onSelect([row.id], !props.selected.has(String(row.id)));
    } else if (event.key === "Enter" && row.more !== undefined) {
      event.preventDefault();
      void further(event.currentTarget as HTMLElement, row.more, place);
    } else if (event.key === "Enter" && row.path !== null) {
      event.preventDefault();
      navigate(row.path);
    } else {
      unfolded(event, row);
    }
  };

  const select = (chosen: (Row | undefined)[]): void => {
    props.onSelect(chosen.flatMap((row) => (row === undefined || row.fixed === true ? [] : [row.id])), true);
  };

  const unfolded = (event: KeyboardEvent, row: Row): void => {
    if (props.tree === undefined || row.open === null || row.open === undefined) return;
    const rtl = getComputedStyle(event.currentTarget as Element).direction === "rtl";
    const opens = event.key === (rtl ? "ArrowLeft" : "ArrowRight");
    const closes = event.key === (rtl ? "ArrowRight" : "ArrowLeft");
    if ((opens && !row.open) || (closes && row.open)) {
      event.preventDefault();
      props.tree.toggle(row);
    }
  };

  const moved = (event: KeyboardEvent, row: Row): void => {
    const steps = { ArrowUp: "up", ArrowDown: "down", ArrowRight: "in", ArrowLeft: "out" } as const;
    const step = steps[event.key as keyof typeof steps];
    if (step === undefined || row.fixed === true || props.tree?.move === undefined || props.tree.move === null) return;
    event.preventDefault();
    props.tree.move(row, step);
  };

  return {
    props: (row, place) => ({
      tabIndex: place === here ? 0 : -1,
      "data-row": place,
      onFocus: () => setActive(place),
      onKeyDown: (event) => pressed(event, row, place),
    }),
  };
}

function focus(from: HTMLElement, place: number): void {
  focusIn(from.parentElement, place);
}

function focusIn(rows: HTMLElement | null, place: number): void {
  rows?.querySelector<HTMLElement>(`:scope > [data-row="${place}"]`)?.focus();
}

/** Reads further records; the first of them stands where somebody asked for them, and has the focus. */
export async function further(row: HTMLElement, read: () => Promise<void>, place: number): Promise<void> {
  const rows = row.parentElement;
  await read();
  requestAnimationFrame(() => focusIn(rows, place));
}
