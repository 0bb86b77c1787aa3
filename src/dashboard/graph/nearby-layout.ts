import type { Point } from "../../integration-graph/export/layout.ts";
import { CARD, type Layout, type Picture } from "./model.ts";

const GAP = 8;
const ROW = 90;
/** The way from the middle to the first row. */
const FIRST = 112;

/** For a narrow screen: one card in the middle, what leads to it above, and all others below, in two columns. */
export function nearbyLayout({ cards, paths }: Picture, middle: string): Layout {
  const inputs = new Set(paths.filter(({ to, from }) => to === middle && from !== middle).map(({ from }) => from));
  const others = cards.map(({ id }) => id).filter((id) => id !== middle);
  const above = others.filter((id) => inputs.has(id));
  const below = others.filter((id) => !inputs.has(id));
  const places = new Map<string, Point>();
  const width = 2 * CARD.width + GAP;
  const top = Math.max(0, rowsOf(above) - 1) * ROW + (above.length > 0 ? FIRST : 0);
  const put = (ids: readonly string[], yOf: (row: number) => number) => {
    for (const [at, id] of ids.entries()) {
      const isAlone = at % 2 === 0 && at === ids.length - 1;
      const x = isAlone ? width / 2 : at % 2 === 0 ? CARD.width / 2 : width - CARD.width / 2;
      places.set(id, { x, y: yOf(Math.floor(at / 2)) });
    }
  };
  put(above, (row) => CARD.height / 2 + row * ROW);
  places.set(middle, { x: width / 2, y: CARD.height / 2 + top });
  put(below, (row) => CARD.height / 2 + top + FIRST + row * ROW);
  const height = CARD.height + top + (below.length > 0 ? FIRST + (rowsOf(below) - 1) * ROW : 0);
  return {
    width,
    height,
    cards: places,
    paths: new Map(
      paths.map(({ id, from, to }) => {
        const [a, b] = [places.get(from)!, places.get(to)!];
        const far = from === middle ? b : a;
        const sign = from === middle ? -1 : 1;
        return [id, { bends: [], label: { x: from === to ? a.x : far.x, y: far.y + sign * (CARD.height / 2 + 14) } }];
      }),
    ),
  };
}

function rowsOf(ids: readonly string[]): number {
  return Math.ceil(ids.length / 2);
}
