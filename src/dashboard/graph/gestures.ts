import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { pan, zoom } from "./canvas.ts";

const DRAG_PX = 4;

let isDragged = false;

/** Whether the pointer that is released now has moved the drawing, so that it opens nothing. */
export function wasDragged(): boolean {
  return isDragged;
}

/** Moving and zooming with pointers and the wheel. */
export function useGestures(root: RefObject<HTMLDivElement | null>) {
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const start = useRef({ x: 0, y: 0 });
  useEffect(() => {
    const element = root.current!;
    const onWheel = (event: WheelEvent) => {
      if (!(event.target as Element).closest(".gr-all")) return;
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      if (event.ctrlKey || event.metaKey) zoom(Math.exp((-event.deltaY * lines) / 300), within(element, event));
      else if (event.shiftKey && event.deltaX === 0) pan(-event.deltaY * lines, 0);
      else pan(-event.deltaX * lines, -event.deltaY * lines);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
  const end = ({ pointerId }: PointerEvent) => {
    pointers.current.delete(pointerId);
    root.current?.classList.remove("dragging");
  };
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0 || !(event.target as Element).closest(".gr-all")) return;
      if (pointers.current.size === 0) {
        isDragged = false;
        start.current = { x: event.clientX, y: event.clientY };
      }
      pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    },
    onPointerMove(event: PointerEvent) {
      const before = pointers.current.get(event.pointerId);
      if (before === undefined) return;
      const { clientX: x, clientY: y } = event;
      if (!isDragged && Math.hypot(x - start.current.x, y - start.current.y) < DRAG_PX) return;
      if (!isDragged) {
        isDragged = true;
        root.current!.setPointerCapture(event.pointerId);
        root.current!.classList.add("dragging");
      }
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      pointers.current.set(event.pointerId, { x, y });
      if (other === undefined) return pan(x - before.x, y - before.y);
      const factor =
        Math.hypot(x - other.x, y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      const { left, top } = root.current!.getBoundingClientRect();
      zoom(factor, { x: (x + other.x) / 2 - left, y: (y + other.y) / 2 - top });
      pan((x - before.x) / 2, (y - before.y) / 2);
    },
    onPointerUp: end,
    onPointerCancel: end,
    onDragStart: (event: DragEvent) => event.preventDefault(),
  };
}

function within(element: Element, { clientX, clientY }: MouseEvent) {
  const { left, top } = element.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}
