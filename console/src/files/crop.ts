/** Geometry of cutting, turning and mirroring a picture. Rectangles are in pixels of the picture as it is shown. */

export interface Extent {
  width: number;
  height: number;
}

export interface Rect extends Extent {
  left: number;
  top: number;
}

export interface Point {
  x: number;
  y: number;
}

/** Edges that a handle moves: -1 the left or upper one, 1 the right or lower one. */
export interface Handle {
  x: -1 | 0 | 1;
  y: -1 | 0 | 1;
}

/** Sides of the smallest rectangle. */
export const SMALLEST = 8;

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), Math.max(least, most));

export function whole(size: Extent): Rect {
  return { left: 0, top: 0, width: size.width, height: size.height };
}

export function isWhole(rect: Rect, size: Extent): boolean {
  return rect.left <= 0 && rect.top <= 0 && rect.width >= size.width && rect.height >= size.height;
}

/** The rectangle within the picture, in whole pixels. */
export function within(rect: Rect, size: Extent): Rect {
  const width = clamp(Math.round(rect.width), Math.min(SMALLEST, size.width), size.width);
  const height = clamp(Math.round(rect.height), Math.min(SMALLEST, size.height), size.height);
  return { width, height, left: clamp(Math.round(rect.left), 0, size.width - width), top: clamp(Math.round(rect.top), 0, size.height - height) };
}

export function moved(rect: Rect, dx: number, dy: number, size: Extent): Rect {
  return within({ ...rect, left: rect.left + dx, top: rect.top + dy }, size);
}

/** Moves the edges of a handle; the opposite ones stay. With a ratio, both sides follow it. */
export function resized(rect: Rect, handle: Handle, dx: number, dy: number, size: Extent, ratio: number | null): Rect {
  const right = rect.left + rect.width;
  const bottom = rect.top + rect.height;
  const room = {
    width: handle.x < 0 ? right : size.width - rect.left,
    height: handle.y < 0 ? bottom : size.height - rect.top,
  };
  let width = clamp(rect.width + handle.x * dx, SMALLEST, room.width);
  let height = clamp(rect.height + handle.y * dy, SMALLEST, room.height);
  if (ratio !== null) {
    ({ width, height } = inRatio(width, height, handle, ratio, room));
  }
  const left = handle.x < 0 ? right - width : rect.left;
  const top = handle.y < 0 ? bottom - height : rect.top;
  return within({ left, top, width, height }, size);
}

/** The side that the handle moves leads; of a corner, the one that changed more. */
function inRatio(width: number, height: number, handle: Handle, ratio: number, room: Extent): Extent {
  const byWidth = handle.y === 0 || (handle.x !== 0 && width / ratio >= height);
  let wide = byWidth ? width : height * ratio;
  wide = Math.min(wide, room.width, room.height * ratio);
  return { width: wide, height: wide / ratio };
}

/** The largest rectangle of a ratio around the same centre that is no larger than before; larger where there is no other way. */
export function withRatio(rect: Rect, ratio: number, size: Extent): Rect {
  const centre = { x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
  const width = Math.min(rect.width, rect.height * ratio);
  return within({ width, height: width / ratio, left: centre.x - width / 2, top: centre.y - width / ratio / 2 }, size);
}

/**
 * The rectangle of a ratio around a point: as large as the picture allows, times `part`. A point near an edge is nearer to
 * the edge of the rectangle.
 */
export function focal(point: Point, ratio: number, size: Extent, part = 1): Rect {
  const width = Math.min(size.width, size.height * ratio) * clamp(part, 0.01, 1);
  const height = width / ratio;
  return within({ width, height, left: point.x - width / 2, top: point.y - height / 2 }, size);
}

/** In percent of the picture, as the server takes it. */
export function percent(rect: Rect, size: Extent): Rect {
  const of = (value: number, all: number): number => Math.round((value / all) * 1_000_000) / 10_000;
  return { left: of(rect.left, size.width), top: of(rect.top, size.height), width: of(rect.width, size.width), height: of(rect.height, size.height) };
}

// ---------------------------------------------------------------- turning and mirroring

/** How the picture is shown: mirrored left to right or not, then turned clockwise by quarters. */
export interface Pose {
  mirrored: boolean;
  quarters: 0 | 1 | 2 | 3;
}

export const UPRIGHT: Pose = { mirrored: false, quarters: 0 };

export type Turn = "right" | "left" | "horizontal" | "vertical";

const quarters = (count: number): Pose["quarters"] => (((count % 4) + 4) % 4) as Pose["quarters"];

/** The pose after a further step on what is shown. */
export function posed(pose: Pose, turn: Turn): Pose {
  switch (turn) {
    case "right":
      return { ...pose, quarters: quarters(pose.quarters + 1) };
    case "left":
      return { ...pose, quarters: quarters(pose.quarters - 1) };
    case "horizontal":
      // Mirroring after a turn is mirroring before the turn the other way.
      return { mirrored: !pose.mirrored, quarters: quarters(-pose.quarters) };
    case "vertical":
      return { mirrored: !pose.mirrored, quarters: quarters(2 - pose.quarters) };
  }
}

/** The size of the picture in a pose. */
export function extentIn(pose: Pose, original: Extent): Extent {
  return pose.quarters % 2 === 0 ? { width: original.width, height: original.height } : { width: original.height, height: original.width };
}

/** Where a rectangle of the picture is after a further step; `size` is the one before it. */
export function turned(rect: Rect, turn: Turn, size: Extent): Rect {
  const { left, top, width, height } = rect;
  switch (turn) {
    case "right":
      return { left: size.height - top - height, top: left, width: height, height: width };
    case "left":
      return { left: top, top: size.width - left - width, width: height, height: width };
    case "horizontal":
      return { ...rect, left: size.width - left - width };
    case "vertical":
      return { ...rect, top: size.height - top - height };
  }
}

export type Modifier =
  | { type: "flip"; args: { flip: { horizontal: boolean; vertical: boolean } } }
  | { type: "rotate"; args: { angle: number } }
  | { type: "crop"; args: Rect };

/** What the server is asked to do, in this order; empty: nothing changes. */
export function modifiersOf(pose: Pose, rect: Rect, original: Extent): Modifier[] {
  const size = extentIn(pose, original);
  const steps: Modifier[] = [];
  if (pose.mirrored) steps.push({ type: "flip", args: { flip: { horizontal: true, vertical: false } } });
  if (pose.quarters !== 0) steps.push({ type: "rotate", args: { angle: pose.quarters * 90 } });
  if (!isWhole(rect, size)) steps.push({ type: "crop", args: percent(rect, size) });
  return steps;
}

/** Transformation of a canvas (a, b, c, d, e, f) that draws the original of this size in its pose. */
export function matrixOf(pose: Pose, original: Extent): [number, number, number, number, number, number] {
  const { width, height } = original;
  const turns: Record<Pose["quarters"], [number, number, number, number, number, number]> = {
    0: [1, 0, 0, 1, 0, 0],
    1: [0, 1, -1, 0, height, 0],
    2: [-1, 0, 0, -1, width, height],
    3: [0, -1, 1, 0, 0, width],
  };
  const [a, b, c, d, e, f] = turns[pose.quarters];
  // Mirroring comes first: x becomes width - x.
  return pose.mirrored ? [-a, -b, c, d, a * width + e, b * width + f] : [a, b, c, d, e, f];
}

// ---------------------------------------------------------------- ratios

export interface Ratio {
  /** Such as "3:2"; names of sizes have their own. */
  name: string;
  value: number;
}

const COMMON: [number, number][] = [[1, 1], [4, 3], [3, 2], [16, 9], [3, 4], [2, 3], [9, 16]];

/** Common ratios, and those of the sizes that the server cuts to a ratio of their own. */
export function ratiosOf(sizes: Record<string, { width: number | null; height: number | null }>, original: Extent): { common: Ratio[]; cut: Ratio[] } {
  const own = original.width / original.height;
  const cut: Ratio[] = [];
  for (const [name, { width, height }] of Object.entries(sizes)) {
    if (width === null || height === null || height === 0) continue;
    const value = width / height;
    // A copy that is only smaller differs by less than a pixel in one of its sides.
    const cutOff = Math.abs(width / own - height) > 1.5 && Math.abs(height * own - width) > 1.5;
    if (cutOff && !cut.some((ratio) => Math.abs(ratio.value - value) < 0.005)) cut.push({ name, value });
  }
  return { common: COMMON.map(([width, height]) => ({ name: `${width}:${height}`, value: width / height })), cut };
}
