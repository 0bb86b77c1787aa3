import { signal } from "@preact/signals";
import type { Point } from "../../integration-graph/export/layout.ts";
import { type Camera, fitted, panned, type Size, zoomed } from "./camera.ts";
import type { Layout } from "./model.ts";

/** Where everything is drawn; undefined until the first layout. */
export const layout = signal<Layout | undefined>(undefined);
/** What the layout has to say for itself: it is the simple one, because the better one is not there yet or took too long. */
export const layoutState = signal<"best" | "working" | "gave up">("best");
/** The size of the canvas in pixels. */
export const canvas = signal<Size>({ width: 0, height: 0 });
export const camera = signal<Camera>({ x: 0, y: 0, scale: 1 });

const STEP = 1.25;

export function zoom(factor: number, around: Point = { x: canvas.value.width / 2, y: canvas.value.height / 2 }): void {
  camera.value = zoomed(camera.value, factor, around);
}

export function zoomIn(): void {
  zoom(STEP);
}

export function zoomOut(): void {
  zoom(1 / STEP);
}

/** Shows the whole drawing. */
export function fit(): void {
  if (layout.value !== undefined) camera.value = fitted(layout.value, canvas.value);
}

export function pan(dx: number, dy: number): void {
  if (layout.value !== undefined) camera.value = panned(camera.value, dx, dy, layout.value, canvas.value);
}
