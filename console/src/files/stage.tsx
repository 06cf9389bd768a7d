/** The picture with the frame of what stays of it. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { type Cut, drag, press, setPoint, sizeOf } from "./cut";
import { type Handle, matrixOf, type Rect } from "./crop";

/** Draws the picture in its pose. `rect` is the part that is drawn, in pixels of the pose. */
export function draw(canvas: HTMLCanvasElement, image: HTMLImageElement, cut: Cut, rect: Rect, scale: number): void {
  canvas.width = Math.max(1, Math.round(rect.width * scale));
  canvas.height = Math.max(1, Math.round(rect.height * scale));
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(scale, 0, 0, scale, -rect.left * scale, -rect.top * scale);
  context.transform(...matrixOf(cut.pose, cut.original));
  context.drawImage(image, 0, 0, cut.original.width, cut.original.height);
}

const HANDLES: Handle[] = [
  { x: -1, y: -1 }, { x: 0, y: -1 }, { x: 1, y: -1 }, { x: -1, y: 0 }, { x: 1, y: 0 }, { x: -1, y: 1 }, { x: 0, y: 1 }, { x: 1, y: 1 },
];
const MOVE: Handle = { x: 0, y: 0 };

interface StageProps {
  image: HTMLImageElement;
  cut: Cut;
  onChange: (cut: Cut) => void;
  describedBy: string;
}

export function Stage({ image, cut, onChange, describedBy }: StageProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const room = useRoom(box);
  const size = sizeOf(cut);
  const scale = Math.min(room.width / size.width, room.height / size.height, 2);
  useLayoutEffect(() => {
    if (canvas.current !== null && scale > 0) draw(canvas.current, image, cut, { left: 0, top: 0, ...size }, scale);
  }, [image, cut.pose, scale]);
  const drags = useDrags(cut, scale, onChange);
  const key = (event: KeyboardEvent): void => {
    const next = event.ctrlKey || event.metaKey ? null : press(cut, { key: event.key, shift: event.shiftKey, alt: event.altKey });
    if (next === null) return;
    event.preventDefault();
    onChange(next);
  };
  const px = (value: number): string => `${value * scale}px`;
  const { rect, point } = cut;
  return (
    <div ref={box} class="crop-room">
      <div
        class="crop-stage"
        style={{ inlineSize: px(size.width), blockSize: px(size.height) }}
        onPointerDown={(event) => {
          if (point === null || event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          drags.point(event);
        }}
        onPointerMove={(event) => point !== null && event.buttons === 1 && drags.point(event)}
      >
        <canvas ref={canvas} class="crop-canvas" />
        <div
          class={`crop-frame${point === null ? "" : " crop-frame-still"}`}
          role="application"
          tabIndex={0}
          aria-label={frameLabel(cut)}
          aria-describedby={describedBy}
          style={{ left: px(rect.left), top: px(rect.top), width: px(rect.width), height: px(rect.height) }}
          onKeyDown={key}
          {...drags.of(MOVE)}
        >
          {point === null &&
            HANDLES.map((handle) => (
              <span
                key={`${handle.x} ${handle.y}`}
                class="crop-handle"
                data-x={handle.x}
                data-y={handle.y}
                aria-hidden="true"
                {...drags.of(handle)}
              />
            ))}
        </div>
        {point !== null && <span class="crop-point" aria-hidden="true" style={{ left: px(point.x), top: px(point.y) }} />}
      </div>
    </div>
  );
}

interface Drags {
  /** What the frame or one of its handles does. */
  of: (handle: Handle) => Record<"onPointerDown" | "onPointerMove" | "onPointerUp" | "onPointerCancel", (event: PointerEvent) => void>;
  /** Puts the point where the pointer is. */
  point: (event: PointerEvent) => void;
}

function useDrags(cut: Cut, scale: number, onChange: (cut: Cut) => void): Drags {
  const start = useRef<{ cut: Cut; x: number; y: number; handle: Handle } | null>(null);
  const end = (): void => {
    start.current = null;
  };
  const move = (event: PointerEvent): void => {
    const from = start.current;
    if (from !== null) onChange(drag(from.cut, from.handle, (event.clientX - from.x) / scale, (event.clientY - from.y) / scale));
  };
  const down = (event: PointerEvent, handle: Handle): void => {
    if (event.button !== 0 || cut.point !== null) return;
    event.preventDefault();
    event.stopPropagation();
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    // The frame takes keys from now on, too.
    (event.currentTarget as HTMLElement).closest<HTMLElement>(".crop-frame")?.focus();
    start.current = { cut, x: event.clientX, y: event.clientY, handle };
  };
  return {
    of: (handle) => ({ onPointerDown: (event) => down(event, handle), onPointerMove: move, onPointerUp: end, onPointerCancel: end }),
    point: (event) => {
      const place = (event.currentTarget as Element).getBoundingClientRect();
      onChange(setPoint(cut, { x: (event.clientX - place.left) / scale, y: (event.clientY - place.top) / scale }));
    },
  };
}

function frameLabel(cut: Cut): string {
  const { left, top, width, height } = cut.rect;
  if (cut.point === null) return t("files.frame", { left, top, width, height });
  const size = sizeOf(cut);
  return t("files.frame_point", { x: Math.round((cut.point.x / size.width) * 100), y: Math.round((cut.point.y / size.height) * 100), width, height });
}

function useRoom(box: { current: HTMLElement | null }): { width: number; height: number } {
  const [room, setRoom] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => setRoom({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return room;
}

/** What the picture will be. */
export function Preview({ image, cut, width }: { image: HTMLImageElement; cut: Cut; width: number }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (canvas.current !== null) draw(canvas.current, image, cut, cut.rect, Math.min(width / cut.rect.width, width / cut.rect.height, 1));
  }, [image, cut, width]);
  return <canvas ref={canvas} class="crop-preview" role="img" aria-label={t("files.preview")} />;
}
