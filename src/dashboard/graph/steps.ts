import type { Layout, Path } from "./model.ts";

export type Direction = "up" | "down" | "left" | "right";

/** A card whose centre is not further away in height is in the same row. */
const SAME_ROW = 40;

/**
 * The card to which an arrow key leads: down along a link that leaves the card, up along one that enters it, left and right to the next
 * card of the row. Of several links, the one whose other end is straightest below or above. Undefined if there is none.
 */
export function stepFrom(
  card: string,
  direction: Direction,
  { cards }: Pick<Layout, "cards">,
  paths: readonly Path[],
): string | undefined {
  const here = cards.get(card);
  if (here === undefined) return undefined;
  const isDown = direction === "down";
  const found =
    direction === "up" || isDown
      ? paths
          .filter(({ from, to }) => from !== to && (isDown ? from : to) === card)
          .map(({ from, to }) => (isDown ? to : from))
      : [...cards.keys()].filter((id) => {
          const { x, y } = cards.get(id)!;
          return Math.abs(y - here.y) < SAME_ROW && (direction === "left" ? x < here.x : x > here.x);
        });
  const away = (id: string) => {
    const { x, y } = cards.get(id)!;
    return Math.abs(x - here.x) + Math.abs(y - here.y) / 4;
  };
  return found.filter((id) => cards.has(id)).sort((a, b) => away(a) - away(b))[0];
}
