/** The state of a picture while it is cut: pure, so that mouse, keys and number fields do the same. */

import {
  type Extent, extentIn, focal, type Handle, isWhole, moved, type Point, type Pose, posed, type Rect, resized, turned, type Turn, UPRIGHT, whole, within, withRatio,
} from "./crop";

export interface Cut {
  original: Extent;
  pose: Pose;
  rect: Rect;
  /** Width by height; null: any. */
  ratio: number | null;
  /** The point around which the ratio is cut; null: the rectangle is drawn freely. */
  point: Point | null;
  /** Share of the largest rectangle around the point. */
  part: number;
}

export function cutOf(original: Extent): Cut {
  return { original, pose: UPRIGHT, rect: whole(original), ratio: null, point: null, part: 1 };
}

export function sizeOf(cut: Cut): Extent {
  return extentIn(cut.pose, cut.original);
}

/** With a point, the rectangle follows from it. */
function around(cut: Cut): Cut {
  if (cut.point === null) return cut;
  const size = sizeOf(cut);
  const ratio = cut.ratio ?? size.width / size.height;
  return { ...cut, rect: focal(cut.point, ratio, size, cut.part) };
}

export function turn(cut: Cut, step: Turn): Cut {
  const before = sizeOf(cut);
  const rect = turned(cut.rect, step, before);
  const dot = cut.point === null ? null : turned({ left: cut.point.x, top: cut.point.y, width: 0, height: 0 }, step, before);
  const quarter = step === "right" || step === "left";
  const next = { ...cut, pose: posed(cut.pose, step), rect, point: dot === null ? null : { x: dot.left, y: dot.top } };
  // A ratio stays what somebody chose: the rectangle is fitted to it anew.
  if (quarter && cut.ratio !== null && cut.point === null) return { ...next, rect: withRatio(rect, cut.ratio, sizeOf(next)) };
  return around(next);
}

export function setRatio(cut: Cut, ratio: number | null): Cut {
  if (cut.point !== null) return around({ ...cut, ratio });
  const size = sizeOf(cut);
  // From the whole picture, a ratio takes as much as it can.
  return { ...cut, ratio, rect: ratio === null ? cut.rect : withRatio(isWhole(cut.rect, size) ? whole(size) : cut.rect, ratio, size) };
}

export function setPoint(cut: Cut, point: Point | null): Cut {
  if (point === null) return { ...cut, point: null };
  const size = sizeOf(cut);
  const clamp = (value: number, most: number): number => Math.min(Math.max(value, 0), most);
  return around({ ...cut, point: { x: clamp(point.x, size.width), y: clamp(point.y, size.height) } });
}

export function setPart(cut: Cut, part: number): Cut {
  return around({ ...cut, part: Math.min(Math.max(part, 0.1), 1) });
}

export function drag(cut: Cut, handle: Handle, dx: number, dy: number): Cut {
  const size = sizeOf(cut);
  const move = handle.x === 0 && handle.y === 0;
  return { ...cut, point: null, rect: move ? moved(cut.rect, dx, dy, size) : resized(cut.rect, handle, dx, dy, size, cut.ratio) };
}

/** A number that somebody typed for one side of the rectangle. */
export function setSide(cut: Cut, side: keyof Rect, value: number): Cut {
  const size = sizeOf(cut);
  const { rect, ratio } = cut;
  const next = { ...rect, [side]: value };
  if (ratio !== null && side === "width") next.height = Math.round(value / ratio);
  if (ratio !== null && side === "height") next.width = Math.round(value * ratio);
  const fitted = within(next, size);
  const off = ratio !== null && (side === "width" || side === "height") && Math.abs(fitted.width / fitted.height - ratio) > 0.02;
  return { ...cut, point: null, rect: off ? withRatio(fitted, ratio, size) : fitted };
}

const ARROWS: Record<string, Point> = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } };

export interface Key {
  key: string;
  shift: boolean;
  alt: boolean;
}

/** Arrows move the point or the rectangle, with Alt its lower right corner; with Shift by a step of one pixel. Null: another key. */
export function press(cut: Cut, { key, shift, alt }: Key): Cut | null {
  const arrow = ARROWS[key];
  if (arrow === undefined) return null;
  const size = sizeOf(cut);
  const step = shift ? 1 : Math.max(1, Math.round(Math.max(size.width, size.height) / 100));
  if (cut.point !== null) return setPoint(cut, { x: cut.point.x + arrow.x * step, y: cut.point.y + arrow.y * step });
  if (!alt) return drag(cut, { x: 0, y: 0 }, arrow.x * step, arrow.y * step);
  return drag(cut, { x: arrow.x === 0 ? 0 : 1, y: arrow.y === 0 ? 0 : 1 }, arrow.x * step, arrow.y * step);
}
