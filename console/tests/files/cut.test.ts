import { describe, expect, it } from "vitest";
import { cutOf, drag, press, setPart, setPoint, setRatio, setSide, sizeOf, turn } from "../../src/files/cut";

const fresh = cutOf({ width: 1200, height: 800 });
const key = (name: string, more: { shift?: boolean; alt?: boolean } = {}): { key: string; shift: boolean; alt: boolean } => ({ key: name, shift: false, alt: false, ...more });

describe("a picture that is cut", () => {
  it("takes as much as a ratio allows", () => {
    expect(setRatio(fresh, 1).rect).toEqual({ left: 200, top: 0, width: 800, height: 800 });
    expect(setRatio(setRatio(fresh, 1), null).rect).toEqual({ left: 200, top: 0, width: 800, height: 800 });
  });

  it("follows a point and its share", () => {
    const focal = setRatio(setPoint(fresh, { x: 1000, y: 400 }), 1);
    expect(focal.rect).toEqual({ left: 400, top: 0, width: 800, height: 800 });
    expect(setPart(focal, 0.5).rect).toEqual({ left: 800, top: 200, width: 400, height: 400 });
    expect(setPoint(focal, { x: -50, y: 5000 }).point).toEqual({ x: 0, y: 800 });
    expect(setPoint(focal, null).rect).toEqual(focal.rect);
  });

  it("keeps what is cut when it is turned", () => {
    const once = turn(drag(fresh, { x: 1, y: 1 }, -600, -600), "right");
    expect(once.rect).toEqual({ left: 600, top: 0, width: 200, height: 600 });
    expect(sizeOf(once)).toEqual({ width: 800, height: 1200 });
    const point = turn(setPoint(fresh, { x: 100, y: 50 }), "right").point;
    expect(point).toEqual({ x: 750, y: 100 });
  });

  it("fits a ratio anew after a turn", () => {
    const wide = turn(setRatio(fresh, 16 / 9), "right");
    expect(wide.rect.width / wide.rect.height).toBeCloseTo(16 / 9, 1);
  });
});

describe("keys", () => {
  it("move the frame, and its lower right corner with Alt", () => {
    const small = drag(fresh, { x: 1, y: 1 }, -600, -400);
    expect(press(small, key("ArrowRight"))?.rect.left).toBe(12);
    expect(press(small, key("ArrowRight", { shift: true }))?.rect.left).toBe(1);
    expect(press(small, key("ArrowDown", { alt: true }))?.rect).toEqual({ left: 0, top: 0, width: 600, height: 412 });
    expect(press(small, key("a"))).toBeNull();
  });

  it("move the point", () => {
    expect(press(setPoint(fresh, { x: 600, y: 400 }), key("ArrowUp"))?.point).toEqual({ x: 600, y: 388 });
  });
});

describe("numbers", () => {
  it("set one side, with the other one by the ratio", () => {
    expect(setSide(fresh, "width", 300).rect).toEqual({ left: 0, top: 0, width: 300, height: 800 });
    expect(setSide(setRatio(fresh, 1), "width", 300).rect).toMatchObject({ width: 300, height: 300 });
    expect(setSide(setRatio(fresh, 2), "height", 5000).rect).toMatchObject({ width: 1200, height: 600 });
    expect(setSide(setPoint(fresh, { x: 5, y: 5 }), "left", 10).point).toBeNull();
  });
});
