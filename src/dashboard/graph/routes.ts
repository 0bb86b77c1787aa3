import type { Point } from "../../integration-graph/export/layout.ts";
import { CARD, type Layout, type Path } from "./model.ts";

/** How a path is drawn: its line, and the place and direction of its arrow head. */
export interface Route {
  readonly line: string;
  readonly head: string;
  readonly label: Point;
}

/** Between two lines at one side of a card. */
const PORT = 30;
const HEAD = 7;

interface End {
  readonly path: string;
  readonly isSource: boolean;
  readonly towards: Point;
}

/**
 * Draws each path as a smooth line that leaves and enters cards vertically, goes through the places that the layout kept for it, and
 * ends in an arrow head. Lines at the same side of a card stand apart.
 */
export function routesOf(paths: readonly Path[], { cards, paths: laid }: Layout): ReadonlyMap<string, Route> {
  const ends = new Map<string, End[]>();
  const put = (card: string, side: "top" | "bottom", end: End) => {
    const key = `${side} ${card}`;
    const known = ends.get(key);
    if (known === undefined) ends.set(key, [end]);
    else known.push(end);
  };
  const lines = paths.flatMap(({ id, from, to }) => {
    const [a, b, route] = [cards.get(from), cards.get(to), laid.get(id)];
    return a === undefined || b === undefined || route === undefined ? [] : [{ id, from, to, a, b, ...route }];
  });
  for (const { id, from, to, a, b, bends } of lines) {
    if (from === to) continue;
    const [first, last] = [bends[0] ?? b, bends.at(-1) ?? a];
    put(from, first.y >= a.y ? "bottom" : "top", { path: id, isSource: true, towards: first });
    put(to, last.y <= b.y ? "top" : "bottom", { path: id, isSource: false, towards: last });
  }
  const ports = new Map<string, Point>();
  for (const [key, all] of ends) {
    const [side, card] = [key.slice(0, key.indexOf(" ")), key.slice(key.indexOf(" ") + 1)];
    const { x, y } = cards.get(card)!;
    const apart = Math.min(PORT, (CARD.width - 44) / Math.max(1, all.length - 1));
    all.sort((one, other) => one.towards.x - other.towards.x);
    for (const [at, { path, isSource }] of all.entries()) {
      const offset = (at - (all.length - 1) / 2) * apart;
      const dy = (CARD.height / 2) * (side === "top" ? -1 : 1);
      ports.set(`${path} ${isSource}`, { x: x + offset, y: y + dy });
    }
  }
  return new Map(
    lines.map(({ id, from, to, a, bends, label }) => {
      if (from === to) return [id, loop(a)];
      const [start, end] = [ports.get(`${id} true`)!, ports.get(`${id} false`)!];
      return [id, line([start, ...bends, end], bends.length > 0 ? label : onLine(start, end, label))];
    }),
  );
}

/** Without bends, the label is on the line: in the middle of its curve, or where the layout put it if that is straight below an end. */
function onLine(start: Point, end: Point, label: Point): Point {
  const middle = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
  if (Math.abs(label.y - middle.y) < 1) return middle;
  const nearer = Math.abs(label.y - start.y) < Math.abs(label.y - end.y) ? start : end;
  return { x: nearer.x, y: label.y };
}

function line(points: readonly Point[], label: Point): Route {
  const end = points.at(-1)!;
  const before = points.at(-2)!;
  const down = end.y >= before.y ? 1 : -1;
  const last = { x: end.x, y: end.y - down * HEAD };
  let [at] = points as [Point];
  let d = `M${round(at.x)} ${round(at.y)}`;
  for (const next of [...points.slice(1, -1), last]) {
    if (Math.abs(next.x - at.x) < 0.5) d += `L${round(next.x)} ${round(next.y)}`;
    else {
      const middle = round((at.y + next.y) / 2);
      d += `C${round(at.x)} ${middle} ${round(next.x)} ${middle} ${round(next.x)} ${round(next.y)}`;
    }
    at = next;
  }
  const head = `M${round(end.x - 4)} ${round(end.y - down * (HEAD + 1))}h8l-4 ${down * HEAD}z`;
  return { line: d, head, label };
}

/** From the right side of a card back to it. */
function loop({ x, y }: Point): Route {
  const right = round(x + CARD.width / 2);
  return {
    line: `M${right} ${round(y - 8)}C${right + 34} ${round(y - 26)} ${right + 34} ${round(y + 26)} ${right + 7} ${round(y + 8)}`,
    head: `M${right + 8} ${round(y + 4)}v8l-7 -4z`,
    label: { x: right + 30, y: y - 20 },
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
