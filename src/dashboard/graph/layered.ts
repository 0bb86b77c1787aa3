import type { Point } from "../../integration-graph/export/layout.ts";
import { CARD, type Layout, type Picture } from "./model.ts";

const GAP = 14;
const LAYER = 92;
const MARGIN = 12;
/** A layer that is wider goes on in a further row. */
const MAX_IN_ROW = 24;
const SWEEPS = 4;

/**
 * Places cards in layers from top to bottom: in a few milliseconds for a thousand of them, but with lines that may cross cards. It stands
 * until the better layout is there, and if that takes too long.
 */
export function layered({ cards, paths }: Picture): Layout {
  const edges = paths.filter(({ from, to }) => from !== to);
  const layers = layersOf(
    cards.map(({ id }) => id),
    edges,
  );
  order(layers, edges);
  const places = new Map<string, Point>();
  const rows = layers.flatMap((layer) =>
    Array.from({ length: Math.ceil(layer.length / MAX_IN_ROW) }, (_, row) =>
      layer.slice(row * MAX_IN_ROW, (row + 1) * MAX_IN_ROW),
    ),
  );
  const widest = Math.max(1, ...rows.map(({ length }) => length));
  const width = widest * (CARD.width + GAP) - GAP + 2 * MARGIN;
  for (const [index, row] of rows.entries()) {
    const left = (width - (row.length * (CARD.width + GAP) - GAP)) / 2;
    for (const [at, id] of row.entries()) {
      const x = left + at * (CARD.width + GAP) + CARD.width / 2;
      places.set(id, { x, y: MARGIN + CARD.height / 2 + index * LAYER });
    }
  }
  return {
    width,
    height: 2 * MARGIN + CARD.height + Math.max(0, rows.length - 1) * LAYER,
    cards: places,
    paths: new Map(
      paths.map(({ id, from, to }) => {
        const [a, b] = [places.get(from)!, places.get(to)!];
        return [id, { bends: [], label: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } }];
      }),
    ),
  };
}

type Edge = { readonly from: string; readonly to: string };

/** Each card below all that lead to it; links that would close a circle do not count. */
function layersOf(ids: readonly string[], edges: readonly Edge[]): string[][] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const isTarget = new Set(edges.map(({ to }) => to));
  const state = new Map<string, "open" | "done">();
  const finished: string[] = [];
  const forward: Edge[] = [];
  // Beginning with what only sends, so that circles are entered where messages enter them.
  for (const start of [...ids.filter((id) => !isTarget.has(id)), ...ids]) {
    if (state.has(start)) continue;
    state.set(start, "open");
    const stack = [{ id: start, edges: (next.get(start) ?? []).values() }];
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const { value: edge, done } = top.edges.next();
      if (done) {
        state.set(top.id, "done");
        finished.push(top.id);
        stack.pop();
        continue;
      }
      if (state.get(edge.to) !== "open") forward.push(edge);
      if (state.has(edge.to)) continue;
      state.set(edge.to, "open");
      stack.push({ id: edge.to, edges: (next.get(edge.to) ?? []).values() });
    }
  }
  const layerOf = new Map<string, number>(ids.map((id) => [id, 0]));
  const ahead = Map.groupBy(forward, ({ from }) => from);
  for (const id of finished.reverse()) {
    const below = layerOf.get(id)! + 1;
    for (const { to } of ahead.get(id) ?? []) layerOf.set(to, Math.max(layerOf.get(to)!, below));
  }
  const layers: string[][] = [];
  for (const id of ids) (layers[layerOf.get(id)!] ??= []).push(id);
  return layers;
}

/** Sorts each layer by where its neighbours are, down and up again. */
function order(layers: string[][], edges: readonly Edge[]): void {
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of edges) {
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      const known = neighbours.get(one);
      if (known === undefined) neighbours.set(one, [other]);
      else known.push(other);
    }
  }
  const place = new Map<string, number>();
  const note = (layer: string[]) => {
    for (const [at, id] of layer.entries()) place.set(id, (at + 0.5) / layer.length);
  };
  for (const layer of layers) note(layer);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed()) {
      const middle = new Map(
        layer.map((id) => {
          const near = neighbours.get(id) ?? [];
          const sum = near.reduce((total, each) => total + place.get(each)!, 0);
          return [id, near.length === 0 ? place.get(id)! : sum / near.length];
        }),
      );
      layer.sort((a, b) => middle.get(a)! - middle.get(b)!);
      note(layer);
    }
  }
}
