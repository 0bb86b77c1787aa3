import { computed, effect, signal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { counted } from "../components/number.ts";
import { seen } from "../components/outside.tsx";
import { usePatternSymbols } from "../components/pattern-icon.tsx";
import { now } from "../state/clock.ts";
import { graph } from "../state/graph.ts";
import { route } from "../state/route.ts";
import { broughtIntoView, carriedOver, opened, READABLE } from "./camera.ts";
import { camera, canvas, layout, layoutState, pan, zoom } from "./canvas.ts";
import { CardShape } from "./card.tsx";
import { pathLabel, spoken, step, subline } from "./figures.ts";
import { layered } from "./layered.ts";
import { laidOut } from "./layout.ts";
import { type Card, isChannel, LABEL_HEIGHT, messagesOf, type Path, type Picture } from "./model.ts";
import { nearbyLayout } from "./nearby-layout.ts";
import { type Route, routesOf } from "./routes.ts";
import { type Direction, stepFrom } from "./steps.ts";
import { textWidth } from "./text-width.ts";
import {
  failing,
  focus,
  found,
  hrefWith,
  isNarrow,
  picture,
  rateOf,
  selectedCard,
  subjectOf,
  symbolOf,
} from "./view.ts";

/** A drawing that is quickly done replaces nothing: the simple layout shows only if the better one takes longer. */
const QUICK_MS = 150;
/** Above this many cards only those near the canvas are in the page. */
const MAX_ALL = 200;
const AREA = 500;

const signature = computed(() => {
  const { cards, paths } = picture.value;
  const ids = [...cards.map(({ id }) => id), ...paths.map(({ id }) => id)].sort().join("\n");
  return `${isNarrow.value} ${focus.value?.depth} ${focus.value?.node.nodeId}\n${ids}`;
});

const routes = computed<ReadonlyMap<string, Route>>(() => {
  const places = layout.value;
  // Read by signature only: paths that stay the same keep their routes while their rates change.
  signature.value;
  return places === undefined ? new Map() : routesOf(picture.peek().paths, places);
});

/** Messages a second on each path. */
const rates = computed<ReadonlyMap<string, number>>(() => {
  const { rates: measured } = graph.value;
  const at = now.value;
  const all = new Map<string, number>();
  for (const { id, links } of picture.value.paths) {
    let sum: number | undefined;
    for (const key of links) {
      const rate = measured.ofLink(key, at);
      if (rate !== undefined) sum = (sum ?? 0) + rate;
    }
    if (sum !== undefined) all.set(id, sum);
  }
  return all;
});

/** The card that the Tab key reaches; arrows move it. */
const tabStop = signal<string | undefined>(undefined);

/** The part of the drawing whose cards are in the page, in steps; undefined: all of it. */
const area = computed(() => {
  if (picture.value.cards.length <= MAX_ALL) return undefined;
  const { x, y, scale } = camera.value;
  const { width, height } = canvas.value;
  const down = (value: number) => Math.floor(value / AREA) * AREA - AREA / 2;
  const up = (value: number) => Math.ceil(value / AREA) * AREA + AREA / 2;
  return `${down(x)} ${down(y)} ${up(x + width / scale)} ${up(y + height / scale)}`;
});

const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** The drawing: drag or scroll moves it, pinch or Ctrl and scroll zooms, arrow keys follow links. */
export function Drawing({ children }: { children?: ComponentChildren }) {
  const root = useRef<HTMLDivElement>(null);
  usePatternSymbols();
  useLayout();
  const gestures = useGestures(root);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = root.current!;
      canvas.value = { width, height };
    });
    observer.observe(root.current!);
    return () => observer.disconnect();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = ARROWS[event.key];
    const from = (document.activeElement as HTMLElement | null)?.dataset.card;
    if (direction === undefined || from === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const to = layout.value && stepFrom(from, direction, layout.value, picture.value.paths);
    if (to !== undefined) focusCard(root.current!, to);
  };
  const { cards, paths } = picture.value;
  const far = camera.value.scale < READABLE ? " far" : "";
  return (
    <div class={`gr-canvas${isNarrow.value ? " narrow" : ""}`} ref={root} {...gestures}>
      <svg
        class={`gr-all${far}`}
        role="group"
        aria-label={`Integration graph: ${counted(cards.length, "drawn node")}, ${counted(paths.length, "link")}. Arrow keys follow links. The same as a table: press t.`}
        onKeyDown={onKeyDown}
      >
        <World />
      </svg>
      {children}
    </div>
  );
}

/** Everything that the camera moves. */
function World() {
  const { x, y, scale } = camera.value;
  const things = useMemo(() => <Things />, []);
  return <g transform={`translate(${-x * scale} ${-y * scale}) scale(${scale})`}>{things}</g>;
}

function Things() {
  const { cards, paths } = picture.value;
  const places = layout.value?.cards;
  if (places === undefined) return null;
  const selected = selectedCard.value;
  const isHot = ({ from, to }: Path) => from === selected?.id || to === selected?.id;
  const [left, top, right, bottom] = area.value?.split(" ").map(Number) ?? [];
  const isNear = (id: string) => {
    const place = places.get(id);
    if (place === undefined) return false;
    return left === undefined || (place.x > left && place.x < right! && place.y > top! && place.y < bottom!);
  };
  const drawn = paths.filter(({ from, to }) => isNear(from) || isNear(to));
  const sorted = selected === undefined ? drawn : [...drawn.filter((path) => !isHot(path)), ...drawn.filter(isHot)];
  const highest = Math.max(0, ...rates.value.values());
  const nearCards = cards.filter(({ id }) => isNear(id));
  const stop = nearCards.some(({ id }) => id === tabStop.value) ? tabStop.value : (selected?.id ?? nearCards[0]?.id);
  return (
    <>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: lines take no focus. */}
      <g aria-hidden="true">
        {sorted.map((path) => {
          const line = routes.value.get(path.id);
          if (line === undefined) return null;
          const look = `${path.way === "message" ? "" : path.way}${isHot(path) ? " hot" : ""}`;
          return (
            <g key={path.id}>
              <path class={`lk w${step(rates.value.get(path.id), highest)} ${look}`} d={line.line} />
              <path class={`ah ${look}`} d={line.head} />
            </g>
          );
        })}
      </g>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: lines take no focus. */}
      <g aria-hidden="true">
        {sorted.map((path) => {
          const [line, text] = [routes.value.get(path.id), pathLabel(path.way, rates.value.get(path.id))];
          if (line === undefined || text === "") return null;
          const width = Math.round(textWidth(text, 11)) + 8;
          return (
            <g
              key={path.id}
              class={path.way === "error" ? "lb bad" : "lb"}
              transform={`translate(${line.label.x} ${line.label.y})`}
            >
              <rect x={-width / 2} y={-LABEL_HEIGHT / 2} width={width} height={LABEL_HEIGHT} rx={3} />
              <text y={3.5}>{text}</text>
            </g>
          );
        })}
      </g>
      <g>
        {nearCards.map((card) => (
          <CardShape key={card.id} {...propsOf(card, selected?.id === card.id, stop === card.id)} />
        ))}
      </g>
    </>
  );
}

function propsOf(card: Card, isSelected: boolean, isTabStop: boolean) {
  const { id, isGroup, nodes } = card;
  const [node] = nodes as [Card["nodes"][number]];
  const { x, y } = layout.value!.cards.get(id)!;
  const failed = nodes.reduce((sum, { nodeId }) => sum + (failing.value.get(nodeId) ?? 0), 0);
  const isPill = !isGroup && isChannel(node);
  return {
    ...{ id, x, y, failed, isSelected, isTabStop },
    href: hrefWith({}, subjectOf(card)),
    label: spoken(card, failed, picture.value.paths, rateOf),
    title: seen(card.title.slice(0, 1_000)),
    sub: subline(card, rateOf),
    symbol: isGroup ? "group" : symbolOf(node),
    shape: isGroup ? ("stack" as const) : isPill ? ("pill" as const) : ("box" as const),
    isIdle: !isGroup && (node.stale || (messagesOf(node) === 0 && node.lastSeenTime === undefined)),
    isFound: found.value && nodes.some(({ nodeId }) => found.value!.has(nodeId)),
    onOpen,
    onFocus: (focused: string) => {
      tabStop.value = focused;
      bringIntoView(focused, false);
    },
  };
}

/** Set by a drag, whose end is no click. */
let wasDragged = false;

function onOpen(event: MouseEvent): void {
  if (wasDragged) event.preventDefault();
}

function focusCard(root: HTMLElement, id: string): void {
  tabStop.value = id;
  bringIntoView(id, false);
  // The card may only now come into the page.
  requestAnimationFrame(() => root.querySelector<SVGElement>(`[data-card="${CSS.escape(id)}"]`)?.focus());
}

/** Moves the drawing so that a card is seen, and its neighbours as far as they fit. */
export function bringIntoView(id: string, withNeighbours = true): void {
  const places = layout.peek()?.cards;
  const place = places?.get(id);
  if (places === undefined || place === undefined || canvas.peek().width === 0) return;
  const { paths } = picture.peek();
  const beside = withNeighbours
    ? paths
        .flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []))
        .flatMap((each) => places.get(each) ?? [])
    : [];
  camera.value = broughtIntoView(camera.peek(), place, beside, canvas.peek());
}

/** Lays out whenever other things are drawn, and shows what is selected. */
function useLayout(): void {
  useEffect(() => {
    let isOver = false;
    let hasOpened = false;
    const open = () => {
      const places = layout.peek();
      if (places === undefined || canvas.peek().width === 0) return;
      const worst = [...failing.peek()].sort(([, a], [, b]) => b - a)[0];
      const id = selectedCard.peek()?.id ?? focus.peek()?.node.nodeId ?? worst?.[0];
      camera.value = opened(places, canvas.peek(), id === undefined ? undefined : places.cards.get(String(id)));
      hasOpened = true;
    };
    const put = (next: NonNullable<typeof layout.value>) => {
      const before = layout.peek();
      layout.value = next;
      if (!hasOpened || before === undefined) return open();
      const stays = [...next.cards.keys()].filter((id) => before.cards.has(id)).length;
      if (stays * 2 < next.cards.size || focus.peek() !== undefined) open();
      else camera.value = carriedOver(camera.peek(), before, next, selectedCard.peek()?.id);
    };
    const lay = async (drawn: Picture) => {
      const near = focus.peek();
      if (isNarrow.peek() && near?.depth === 1) {
        layoutState.value = "best";
        return put(nearbyLayout(drawn, String(near.node.nodeId)));
      }
      const former = layout.peek();
      const isKnown = former !== undefined && drawn.cards.some(({ id }) => former.cards.has(id));
      const asked = signature.peek();
      let isDone = false;
      const simple = () => {
        if (isDone || isOver || asked !== signature.peek()) return;
        layoutState.value = "working";
        put(layered(drawn));
      };
      const timer = setTimeout(simple, isKnown ? 2_000 : QUICK_MS);
      const best = await laidOut(drawn, former);
      clearTimeout(timer);
      isDone = true;
      if (isOver || asked !== signature.peek()) return;
      if (best !== undefined) {
        layoutState.value = "best";
        put(best);
      } else {
        isDone = false;
        simple();
        layoutState.value = "gave up";
      }
    };
    const stops = [
      effect(() => {
        signature.value;
        if (picture.peek().cards.length > 0) void lay(picture.peek());
      }),
      effect(() => {
        // The canvas has a size only after the first frame.
        if (canvas.value.width > 0 && !hasOpened) open();
      }),
      effect(() => {
        route.value;
        const card = selectedCard.peek();
        if (card !== undefined && hasOpened) bringIntoView(card.id);
      }),
    ];
    return () => {
      isOver = true;
      for (const stop of stops) stop();
    };
  }, []);
}

const DRAG_PX = 4;

/** Moving and zooming with pointers and the wheel. */
function useGestures(root: RefObject<HTMLDivElement | null>) {
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
        wasDragged = false;
        start.current = { x: event.clientX, y: event.clientY };
      }
      pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    },
    onPointerMove(event: PointerEvent) {
      const before = pointers.current.get(event.pointerId);
      if (before === undefined) return;
      const { clientX: x, clientY: y } = event;
      if (!wasDragged && Math.hypot(x - start.current.x, y - start.current.y) < DRAG_PX) return;
      if (!wasDragged) {
        wasDragged = true;
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
