import type { Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { count, counted } from "../components/number.ts";
import { seen } from "../components/outside.tsx";
import type { Card, Path, Way } from "./model.ts";
import { isChannel } from "./model.ts";
import { patternWords, perSecond, placeOf, took } from "./words.ts";

/** Messages a second; undefined: none was seen. */
type RateOf = (node: Node) => number | undefined;

const sumOf = (nodes: readonly Node[], rateOf: RateOf) => nodes.reduce((sum, each) => sum + (rateOf(each) ?? 0), 0);

/** The second line of a card. */
export function subline({ isGroup, nodes }: Card, rateOf: RateOf): string {
  if (isGroup) {
    const rate = sumOf(nodes, rateOf);
    return `${counted(nodes.length, "node")}${rate > 0 ? ` · ${perSecond(rate)}` : ""}`;
  }
  const [node] = nodes as [Node];
  const known = rateOf(node);
  const rate = known === undefined ? undefined : perSecond(known);
  if (isChannel(node)) return [placeOf(node), rate].filter(Boolean).join(" · ");
  const isMeasured = node.sendTimers !== undefined || node.receiveCounters !== undefined;
  if (rate === undefined) return isMeasured ? "no message yet" : patternWords(node);
  const mean = node.sendTimers?.successes?.mean ?? 0;
  return mean > 0 ? `${rate} · ${took(mean)}` : rate;
}

/** What a screen reader says of a card, and the pointer shows. */
export function spoken(card: Card, failed: number, paths: readonly Path[], rateOf: RateOf): string {
  const { id, title, isGroup, nodes } = card;
  const [node] = nodes as [Node];
  const mean = isGroup ? 0 : (node.sendTimers?.successes?.mean ?? 0);
  const rate = sumOf(nodes, rateOf);
  return [
    seen(title.slice(0, 1_000)),
    isGroup ? `collapsed, ${counted(nodes.length, "node")}` : patternWords(node),
    rate > 0 && `${perSecond(rate).replace("/s", "")} a second`,
    mean > 0 && `mean ${took(mean)}`,
    failed > 0 && `failing, ${count(failed)} failed in the last minute`,
    !isGroup && node.stale && "its source cannot be reached",
    `${count(paths.filter(({ to }) => to === id).length)} in, ${count(paths.filter(({ from }) => from === id).length)} out`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** The label of a path: its kind, unless it is the plain way on, and its rate, if it has one. */
export function pathLabel(way: Way, rate: number | undefined): string {
  const known = rate !== undefined && rate > 0 ? perSecond(rate) : "";
  return way === "message" ? known : `${way} ${known}`.trim();
}

/** The width of a path in three steps, by its part of the highest rate. */
export function step(rate: number | undefined, highest: number): 1 | 2 | 3 {
  const part = highest > 0 ? (rate ?? 0) / highest : 0;
  return part >= 0.5 ? 3 : part >= 0.1 ? 2 : 1;
}
