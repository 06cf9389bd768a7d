import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extentIn, focal, type Handle, isWhole, matrixOf, modifiersOf, moved, percent, type Pose, posed, ratiosOf, resized, SMALLEST, type Turn, turned, UPRIGHT, whole, withRatio, within } from "../../src/files/crop";

const size = { width: 1200, height: 800 };
const extents = fc.record({ width: fc.integer({ min: 20, max: 6000 }), height: fc.integer({ min: 20, max: 6000 }) });
const turns = fc.array(fc.constantFrom<Turn>("right", "left", "horizontal", "vertical"), { maxLength: 12 });

function inside(rect: { left: number; top: number; width: number; height: number }, of: { width: number; height: number }): void {
  expect(rect.left).toBeGreaterThanOrEqual(0);
  expect(rect.top).toBeGreaterThanOrEqual(0);
  expect(rect.left + rect.width).toBeLessThanOrEqual(of.width);
  expect(rect.top + rect.height).toBeLessThanOrEqual(of.height);
  expect(rect.width).toBeGreaterThan(0);
  expect(rect.height).toBeGreaterThan(0);
}

describe("rectangles", () => {
  it("stay within the picture when they are moved", () => {
    expect(moved({ left: 10, top: 10, width: 100, height: 100 }, -50, 900, size)).toEqual({ left: 0, top: 700, width: 100, height: 100 });
  });

  it("keep the opposite edges when a handle is moved", () => {
    const rect = { left: 100, top: 100, width: 200, height: 200 };
    expect(resized(rect, { x: -1, y: -1 }, -50, 20, size, null)).toEqual({ left: 50, top: 120, width: 250, height: 180 });
    expect(resized(rect, { x: 1, y: 0 }, 5000, 0, size, null)).toEqual({ left: 100, top: 100, width: 1100, height: 200 });
    expect(resized(rect, { x: 1, y: 1 }, -500, -500, size, null)).toEqual({ left: 100, top: 100, width: SMALLEST, height: SMALLEST });
  });

  it("keep a ratio, also at the edge of the picture", () => {
    const rect = { left: 1000, top: 600, width: 150, height: 100 };
    expect(resized(rect, { x: 1, y: 1 }, 500, 0, size, 1.5)).toEqual({ left: 1000, top: 600, width: 200, height: 133 });
    expect(resized(rect, { x: 0, y: 1 }, 0, 30, size, 1.5)).toEqual({ left: 1000, top: 600, width: 195, height: 130 });
  });

  it("stay within, whatever is done with them", () => {
    const handles = fc.record({ x: fc.constantFrom(-1 as const, 0 as const, 1 as const), y: fc.constantFrom(-1 as const, 0 as const, 1 as const) });
    const steps = fc.array(fc.record({ handle: handles, dx: fc.integer({ min: -3000, max: 3000 }), dy: fc.integer({ min: -3000, max: 3000 }) }), { maxLength: 8 });
    fc.assert(
      fc.property(extents, steps, fc.option(fc.constantFrom(1, 1.5, 16 / 9, 0.5)), (extent, all, ratio) => {
        let rect = whole(extent);
        if (ratio !== null) rect = withRatio(rect, ratio, extent);
        for (const { handle, dx, dy } of all) {
          rect = handle.x === 0 && handle.y === 0 ? moved(rect, dx, dy, extent) : resized(rect, handle as Handle, dx, dy, extent, ratio);
          inside(rect, extent);
        }
      }),
    );
  });

  it("are told in percent", () => {
    expect(percent({ left: 300, top: 200, width: 400, height: 100 }, size)).toEqual({ left: 25, top: 25, width: 33.3333, height: 12.5 });
  });
});

describe("a focal crop", () => {
  it("is as large as the ratio allows, around the point", () => {
    expect(focal({ x: 600, y: 400 }, 1, size)).toEqual({ left: 200, top: 0, width: 800, height: 800 });
    expect(focal({ x: 100, y: 400 }, 1, size)).toEqual({ left: 0, top: 0, width: 800, height: 800 });
    expect(focal({ x: 1199, y: 790 }, 16 / 9, size, 0.5)).toEqual({ left: 600, top: 462, width: 600, height: 338 });
  });

  it("holds the point and lies within the picture", () => {
    fc.assert(
      fc.property(extents, fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(1, 1.5, 16 / 9, 2 / 3), fc.double({ min: 0.3, max: 1, noNaN: true }), (extent, x, y, ratio, part) => {
        const point = { x: x * extent.width, y: y * extent.height };
        const rect = focal(point, ratio, extent, part);
        inside(rect, extent);
        expect(point.x).toBeGreaterThanOrEqual(rect.left - 1);
        expect(point.x).toBeLessThanOrEqual(rect.left + rect.width + 1);
        expect(point.y).toBeGreaterThanOrEqual(rect.top - 1);
        expect(point.y).toBeLessThanOrEqual(rect.top + rect.height + 1);
      }),
    );
  });
});

describe("turning and mirroring", () => {
  /** Where a point of the original is shown, by the steps themselves. */
  const follow = (all: Turn[], original: { width: number; height: number }, x: number, y: number): { x: number; y: number } => {
    let extent = original;
    let at = { x, y };
    for (const turn of all) {
      if (turn === "right") at = { x: extent.height - at.y, y: at.x };
      else if (turn === "left") at = { x: at.y, y: extent.width - at.x };
      else if (turn === "horizontal") at = { x: extent.width - at.x, y: at.y };
      else at = { x: at.x, y: extent.height - at.y };
      if (turn === "right" || turn === "left") extent = { width: extent.height, height: extent.width };
    }
    return at;
  };

  it("comes to one mirroring and one turn that show the same", () => {
    fc.assert(
      fc.property(extents, turns, (original, all) => {
        const pose = all.reduce<Pose>(posed, UPRIGHT);
        const [a, b, c, d, e, f] = matrixOf(pose, original);
        for (const [x, y] of [[0, 0], [3, 7], [original.width, 0], [0, original.height]] as const) {
          const shown = follow(all, original, x, y);
          expect([a * x + c * y + e, b * x + d * y + f]).toEqual([shown.x, shown.y]);
        }
      }),
    );
  });

  it("takes the rectangle along", () => {
    fc.assert(
      fc.property(turns, (all) => {
        let extent = size;
        let pose = UPRIGHT;
        let rect = { left: 100, top: 50, width: 300, height: 200 };
        for (const turn of all) {
          rect = turned(rect, turn, extent);
          pose = posed(pose, turn);
          extent = extentIn(pose, size);
          inside(rect, extent);
        }
        const one = follow(all, size, 100, 50);
        const other = follow(all, size, 400, 250);
        expect(rect).toEqual({ left: Math.min(one.x, other.x), top: Math.min(one.y, other.y), width: Math.abs(one.x - other.x), height: Math.abs(one.y - other.y) });
      }),
    );
  });

  it("is asked of the server in its order, and nothing when nothing changes", () => {
    expect(modifiersOf(UPRIGHT, whole(size), size)).toEqual([]);
    const pose: Pose = { mirrored: true, quarters: 1 };
    expect(modifiersOf(pose, { left: 0, top: 0, width: 400, height: 1200 }, size)).toEqual([
      { type: "flip", args: { flip: { horizontal: true, vertical: false } } },
      { type: "rotate", args: { angle: 90 } },
      { type: "crop", args: { left: 0, top: 0, width: 50, height: 100 } },
    ]);
  });
});

describe("ratios", () => {
  it("are those of copies that are cut, too", () => {
    const sizes = { thumbnail: { width: 150, height: 150 }, medium: { width: 300, height: 200 }, wide: { width: 1200, height: 630 }, again: { width: 300, height: 300 } };
    expect(ratiosOf(sizes, size).cut).toEqual([{ name: "thumbnail", value: 1 }, { name: "wide", value: 1200 / 630 }]);
  });

  it("fit into what is chosen", () => {
    expect(withRatio({ left: 0, top: 0, width: 1200, height: 800 }, 1, size)).toEqual({ left: 200, top: 0, width: 800, height: 800 });
    expect(isWhole(withRatio(whole(size), 1.5, size), size)).toBe(true);
    expect(within({ left: -5, top: -5, width: 5000, height: 1 }, size)).toEqual({ left: 0, top: 0, width: 1200, height: SMALLEST });
  });
});
