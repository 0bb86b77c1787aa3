import type { Point } from "../../integration-graph/export/layout.ts";
import { CARD, type Layout } from "./model.ts";

/** What part of the drawing is seen: the place at the left top of the canvas, and how many pixels one unit takes. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Below this scale texts would be too small, so that they are left out. */
export const READABLE = 1;
const MAX_SCALE = 2.5;
const MIN_SCALE = 0.08;
const MARGIN = 24;

/** Zooms by `factor` around a place of the canvas. Stops at the scale of readable texts on the way. */
export function zoomed({ x, y, scale }: Camera, factor: number, around: Point): Camera {
  let next = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale * factor));
  if ((scale - READABLE) * (next - READABLE) < 0) next = READABLE;
  return {
    x: x + around.x / scale - around.x / next,
    y: y + around.y / scale - around.y / next,
    scale: next,
  };
}

/** Moves the drawing by pixels of the canvas. Some of it stays in sight. */
export function panned(camera: Camera, dx: number, dy: number, layout: Size, canvas: Size): Camera {
  const { scale } = camera;
  const keep = 60 / scale;
  const within = (value: number, length: number, seen: number) =>
    Math.min(length - keep, Math.max(keep - seen / scale, value));
  return {
    x: within(camera.x - dx / scale, layout.width, canvas.width),
    y: within(camera.y - dy / scale, layout.height, canvas.height),
    scale,
  };
}

/** The whole drawing in the middle of the canvas, at most as large as `maxScale`. */
export function fitted(layout: Size, canvas: Size, maxScale = 1.4): Camera {
  const room = { width: Math.max(80, canvas.width - 2 * MARGIN), height: Math.max(80, canvas.height - 2 * MARGIN) };
  const fit = Math.min(maxScale, room.width / Math.max(1, layout.width), room.height / Math.max(1, layout.height));
  const scale = Math.max(MIN_SCALE, fit);
  return {
    x: (layout.width - canvas.width / scale) / 2,
    y: (layout.height - canvas.height / scale) / 2,
    scale,
  };
}

/**
 * Where the drawing opens: whole if its texts are readable then, else at their size around `place`, or at the top if there is none.
 */
export function opened(layout: Size, canvas: Size, place: Point | undefined): Camera {
  const whole = fitted(layout, canvas);
  if (whole.scale >= READABLE) return whole;
  const spare = (length: number, seen: number) => length + 2 * MARGIN <= seen;
  const from = (middle: number, length: number, seen: number) =>
    spare(length, seen) ? (length - seen) / 2 : Math.min(length + MARGIN - seen, Math.max(-MARGIN, middle - seen / 2));
  return {
    x: from(place?.x ?? layout.width / 2, layout.width, canvas.width),
    y: from(place?.y ?? 0, layout.height, canvas.height),
    scale: READABLE,
  };
}

/** Moves no further than needed to show `card` and, as far as they fit, the cards beside it. */
export function broughtIntoView(camera: Camera, card: Point, beside: readonly Point[], canvas: Size): Camera {
  const scale = Math.max(camera.scale, Math.min(READABLE, camera.scale * 4));
  const seen = { width: canvas.width / scale, height: canvas.height / scale };
  const base = scale === camera.scale ? camera : { x: card.x - seen.width / 2, y: card.y - seen.height / 2, scale };
  const axis = (key: "x" | "y", length: number, size: number, at: number) => {
    const room = size / 2 + MARGIN / scale;
    let [low, high] = [card[key] - room, card[key] + room];
    for (const place of [...beside].sort((a, b) => Math.abs(a[key] - card[key]) - Math.abs(b[key] - card[key]))) {
      const [lower, higher] = [Math.min(low, place[key] - room), Math.max(high, place[key] + room)];
      if (higher - lower <= length) [low, high] = [lower, higher];
    }
    if (low < at) return low;
    return high > at + length ? high - length : at;
  };
  return {
    x: axis("x", seen.width, CARD.width, base.x),
    y: axis("y", seen.height, CARD.height, base.y),
    scale,
  };
}

/** The camera for another layout, such that the kept cards seem to stay where they are as well as possible. */
export function carriedOver(camera: Camera, before: Layout, after: Layout, anchor: string | undefined): Camera {
  const place = anchor === undefined ? undefined : after.cards.get(anchor);
  const former = anchor === undefined ? undefined : before.cards.get(anchor);
  if (place !== undefined && former !== undefined) {
    return { ...camera, x: camera.x + place.x - former.x, y: camera.y + place.y - former.y };
  }
  const moves = [...after.cards].flatMap(([id, { x, y }]) => {
    const was = before.cards.get(id);
    return was === undefined ? [] : [{ x: x - was.x, y: y - was.y }];
  });
  if (moves.length === 0) return camera;
  return { ...camera, x: camera.x + median(moves.map(({ x }) => x)), y: camera.y + median(moves.map(({ y }) => y)) };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
