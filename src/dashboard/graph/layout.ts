import type { Layout as Laid, Point } from "../../integration-graph/export/layout.ts";
import type { LayoutRequest } from "./layout-worker.ts";
import { CARD, type Layout, labelRoom, type Picture } from "./model.ts";

/** A layout that takes longer is given up; the simple one stays. */
const MAX_LAYOUT_MS = 20_000;

let worker: Worker | undefined;
let giveUp: (() => void) | undefined;

/**
 * Lays a picture out in a worker, which is loaded with the first call. Resolves to undefined if it takes too long, fails, or gives way to
 * the next call. `former` is the layout in force: cards are given in its order, which keeps them near their places.
 */
export async function laidOut({ cards, paths }: Picture, former: Layout | undefined): Promise<Layout | undefined> {
  giveUp?.();
  const lines = paths.filter(({ from, to }) => from !== to);
  const loops = new Set(paths.filter(({ from, to }) => from === to).map(({ from }) => from));
  const request: LayoutRequest = {
    boxes: inOrder(cards, former).map(({ id }) => ({
      id,
      width: CARD.width + (loops.has(id) ? 80 : 0),
      height: CARD.height,
    })),
    lines: lines.map((path) => ({ from: path.from, to: path.to, label: labelRoom(path) })),
  };
  const laid = await ask(request);
  return (
    laid && {
      width: laid.width,
      height: laid.height,
      cards: laid.boxes,
      paths: new Map([
        ...paths.filter(({ from, to }) => from === to).map(({ id }) => [id, NO_BENDS] as const),
        ...lines.map(
          ({ id }, index) => [id, { bends: bendsOf(laid.lines[index]!), label: laid.lines[index]!.label }] as const,
        ),
      ]),
    }
  );
}

const NO_BENDS = { bends: [], label: { x: 0, y: 0 } };

/** The first and the last point lie on the cards, where the drawing chooses its own. */
function bendsOf({ points }: Laid["lines"][number]): readonly Point[] {
  return points.slice(1, -1);
}

function inOrder(cards: Picture["cards"], former: Layout | undefined): Picture["cards"] {
  if (former === undefined) return cards;
  const place = (id: string) => former.cards.get(id) ?? { x: 0, y: Number.POSITIVE_INFINITY };
  return [...cards].sort((a, b) => place(a.id).y - place(b.id).y || place(a.id).x - place(b.id).x || 0);
}

function ask(request: LayoutRequest): Promise<Laid | undefined> {
  return new Promise((resolve) => {
    worker ??= new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
    const asked = worker;
    const end = (laid: Laid | undefined) => {
      clearTimeout(timer);
      giveUp = undefined;
      // What is still at work would keep the next request waiting.
      if (laid === undefined) {
        asked.terminate();
        worker = undefined;
      }
      resolve(laid);
    };
    const timer = setTimeout(() => end(undefined), MAX_LAYOUT_MS);
    giveUp = () => end(undefined);
    asked.onmessage = ({ data }: MessageEvent<Laid>) => end(data);
    asked.onerror = () => end(undefined);
    asked.postMessage(request);
  });
}
