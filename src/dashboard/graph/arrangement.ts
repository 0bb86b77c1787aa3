import { computed, effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { route } from "../state/route.ts";
import { broughtIntoView, carriedOver, opened } from "./camera.ts";
import { camera, canvas, layout, layoutState } from "./canvas.ts";
import { layered } from "./layered.ts";
import { laidOut } from "./layout.ts";
import type { Layout, Picture } from "./model.ts";
import { nearbyLayout } from "./nearby-layout.ts";
import { failing, focus, isNarrow, picture, selectedCard } from "./view.ts";

/** A drawing that is quickly done replaces nothing: the simple layout shows only if the better one takes longer. */
const QUICK_MS = 150;
/** What is drawn, without its numbers: while it stays the same, so do all places. */
export const signature = computed(() => {
  const { cards, paths } = picture.value;
  const ids = [...cards.map(({ id }) => id), ...paths.map(({ id }) => id)].sort().join("\n");
  return `${isNarrow.value} ${focus.value?.depth} ${focus.value?.node.nodeId}\n${ids}`;
});

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
export function useArrangement(): void {
  useEffect(() => {
    let isOver = false;
    let hasOpened = false;
    let isSimple = false;
    const open = () => {
      const places = layout.peek();
      if (places === undefined || canvas.peek().width === 0) return;
      const worst = [...failing.peek()].sort(([, a], [, b]) => b - a)[0];
      const id = selectedCard.peek()?.id ?? focus.peek()?.node.nodeId ?? worst?.[0];
      camera.value = opened(places, canvas.peek(), id === undefined ? undefined : places.cards.get(String(id)));
      hasOpened = true;
    };
    const put = (next: Layout) => {
      const before = layout.peek();
      layout.value = next;
      const wasSimple = isSimple;
      isSimple = layoutState.peek() !== "best";
      if (!hasOpened || before === undefined || (wasSimple && !isSimple)) return open();
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
