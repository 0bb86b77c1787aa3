import type { GraphChange } from "../../client/watched-graph.ts";
import { failuresOf } from "./model.ts";

/** Over how long the rate of a link is taken. */
export const RATE_MS = 30_000;
/** Over how long failures count as recent. */
export const FAILED_MS = 60_000;
/** A shorter time says nothing about a rate. */
const MIN_MS = 2_500;

/** What grew in the recent past, from counts that are sent only when they change. */
class Growth {
  /** Oldest first; the first one is the latest of those before the window, if there is one. */
  #samples: { readonly at: number; readonly count: number }[] = [];

  add(at: number, count: number, windowMs: number): void {
    // A count that shrinks is that of a new process.
    if (count < (this.#samples.at(-1)?.count ?? 0)) this.#samples = [];
    this.#samples.push({ at, count });
    while (this.#samples.length > 1 && this.#samples[1]!.at <= at - windowMs) this.#samples.shift();
  }

  since(now: number, windowMs: number): { readonly count: number; readonly ms: number } {
    const samples = this.#samples;
    const base = samples.findLast(({ at }) => at <= now - windowMs) ?? samples[0];
    if (base === undefined) return { count: 0, ms: 0 };
    return { count: samples.at(-1)!.count - base.count, ms: Math.min(windowMs, now - base.at) };
  }
}

/** The rates of links and the recent failures of nodes, from the changes of a watched graph. Times are milliseconds. */
export class Rates {
  readonly #links = new Map<string, Growth>();
  readonly #failures = new Map<number, Growth>();

  apply({ isSnapshot, nodes, links, removedNodes, removedLinks }: GraphChange, now: number): void {
    if (isSnapshot) {
      for (const key of this.#links.keys()) if (!links.has(key)) this.#links.delete(key);
      for (const id of this.#failures.keys()) if (!nodes.has(id)) this.#failures.delete(id);
    }
    for (const key of removedLinks.keys()) this.#links.delete(key);
    for (const id of removedNodes) this.#failures.delete(id);
    for (const [key, { count }] of links) growthOf(this.#links, key).add(now, Number(count), RATE_MS);
    for (const [id, node] of nodes) growthOf(this.#failures, id).add(now, failuresOf(node), FAILED_MS);
  }

  /** Messages a second on a link lately; undefined if it has been watched too shortly. */
  ofLink(key: string, now: number): number | undefined {
    const { count, ms } = this.#links.get(key)?.since(now, RATE_MS) ?? { count: 0, ms: 0 };
    return ms < MIN_MS ? undefined : (count * 1_000) / ms;
  }

  /** How many messages failed at a node in the last minute, or since it was first watched. */
  failedAt(nodeId: number, now: number): number {
    return this.#failures.get(nodeId)?.since(now, FAILED_MS).count ?? 0;
  }
}

function growthOf<Key>(all: Map<Key, Growth>, key: Key): Growth {
  let growth = all.get(key);
  if (growth === undefined) all.set(key, (growth = new Growth()));
  return growth;
}
