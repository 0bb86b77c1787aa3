import type { Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { count, counted } from "../components/number.ts";
import { seen } from "../components/outside.tsx";
import type { Card, Path, Way } from "./model.ts";
import { isChannel, messagesOf } from "./model.ts";
import { patternWords, perSecond, placeOf, took } from "./words.ts";

/** The second line of a card. */
export function subline({ isGroup, nodes }: Card): string {
  if (isGroup) {
    const rate = nodes.reduce((sum, each) => sum + each.rate, 0);
    return `${counted(nodes.length, "node")}${rate > 0 ? ` · ${perSecond(rate)}` : ""}`;
  }
  const [node] = nodes as [Node];
  const rate = messagesOf(node) > 0 || node.rate > 0 ? perSecond(node.rate) : undefined;
  if (isChannel(node)) return [placeOf(node), rate].filter(Boolean).join(" · ");
  const isMeasured = node.sendTimers !== undefined || node.receiveCounters !== undefined;
  if (rate === undefined) return isMeasured ? "no message yet" : patternWords(node);
  const mean = node.sendTimers?.successes?.mean ?? 0;
  return mean > 0 ? `${rate} · ${took(mean)}` : rate;
}

/** What a screen reader says of a card. */
export function spoken(card: Card, failed: number, paths: readonly Path[]): string {
  const { id, title, isGroup, nodes } = card;
  const [node] = nodes as [Node];
  const mean = isGroup ? 0 : (node.sendTimers?.successes?.mean ?? 0);
  const rate = nodes.reduce((sum, each) => sum + each.rate, 0);
  return [
    seen(title.slice(0, 200)),
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
