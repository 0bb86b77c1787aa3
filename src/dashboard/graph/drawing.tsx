import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { counted } from "../components/number.ts";
import { seen } from "../components/outside.tsx";
import { usePatternSymbols } from "../components/pattern-icon.tsx";
import { now } from "../state/clock.ts";
import { graph } from "../state/graph.ts";
import { bringIntoView, signature, useArrangement } from "./arrangement.ts";
import { READABLE } from "./camera.ts";
import { camera, canvas, layout } from "./canvas.ts";
import { CardShape } from "./card.tsx";
import { pathLabel, spoken, step, subline } from "./figures.ts";
import { useGestures, wasDragged } from "./gestures.ts";
import { type Card, isChannel, LABEL_HEIGHT, messagesOf, type Path } from "./model.ts";
import { type Route, routesOf } from "./routes.ts";
import { type Direction, stepFrom } from "./steps.ts";
import { textWidth } from "./text-width.ts";
import { failing, found, hrefWith, isNarrow, picture, rateOf, selectedCard, subjectOf, symbolOf } from "./view.ts";

/** Above this many cards only those near the canvas are in the page. */
const MAX_ALL = 200;
const AREA = 500;

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

/** Texts would be too small. */
const isFar = computed(() => camera.value.scale < READABLE);

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
  useArrangement();
  const gestures = useGestures(root);
  useEffect(() => {
    const element = root.current!;
    const observer = new ResizeObserver(() => {
      canvas.value = { width: element.clientWidth, height: element.clientHeight };
    });
    observer.observe(element);
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
  return (
    <div class={`gr-canvas${isNarrow.value ? " narrow" : ""}`} ref={root} {...gestures}>
      <svg
        class={`gr-all${isFar.value ? " far" : ""}`}
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
  const labelled = isFar.value ? [] : sorted;
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
      <g>
        {labelled.map((path) => {
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

function onOpen(event: MouseEvent): void {
  if (wasDragged()) event.preventDefault();
}

function focusCard(root: HTMLElement, id: string): void {
  tabStop.value = id;
  bringIntoView(id, false);
  // The card may only now come into the page.
  requestAnimationFrame(() => root.querySelector<SVGElement>(`[data-card="${CSS.escape(id)}"]`)?.focus());
}
