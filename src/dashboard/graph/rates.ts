import type { GraphChange } from "../../client/watched-graph.ts";
import type { Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { failuresOf, messagesOf } from "./model.ts";

/** Over how long rates are taken. */
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

  /** Messages a second; undefined if it has been watched too shortly. */
  rate(now: number): number | undefined {
    const { count, ms } = this.since(now, RATE_MS);
    return ms < MIN_MS ? undefined : (count * 1_000) / ms;
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
  readonly #messages = new Map<number, Growth>();
  readonly #failures = new Map<number, Growth>();

  apply({ isSnapshot, nodes, links, removedNodes, removedLinks, nodesBefore }: GraphChange, now: number): void {
    if (isSnapshot) {
      for (const key of this.#links.keys()) if (!links.has(key)) this.#links.delete(key);
      for (const id of this.#failures.keys()) if (!nodes.has(id)) this.#forget(id);
    }
    for (const [id, node] of nodes) {
      // What other instances have counted before is no growth.
      if (!isOfOthers(nodesBefore.get(id), node)) continue;
      this.#forget(id);
      for (const [key, { from, to }] of links) if (from === id || to === id) this.#links.delete(key);
    }
    for (const key of removedLinks.keys()) this.#links.delete(key);
    for (const id of removedNodes) this.#forget(id);
    for (const [key, { count }] of links) growthOf(this.#links, key).add(now, Number(count), RATE_MS);
    for (const [id, node] of nodes) {
      growthOf(this.#messages, id).add(now, messagesOf(node), RATE_MS);
      growthOf(this.#failures, id).add(now, failuresOf(node), FAILED_MS);
    }
  }

  /** Messages a second on a link lately; undefined if it has been watched too shortly. */
  ofLink(key: string, now: number): number | undefined {
    return this.#links.get(key)?.rate(now);
  }

  /**
   * Messages a second at a node lately, measured as those of links are, so that the two agree. The server's own average, whose weights
   * fall by e each minute, stands in until that is known, and for nodes whose messages are not counted. Undefined: no message was seen.
   */
  ofNode(node: Node, now: number): number | undefined {
    if (messagesOf(node) === 0) return node.rate > 0 ? node.rate : undefined;
    return this.#messages.get(node.nodeId)?.rate(now) ?? node.rate;
  }

  /** How many messages failed at a node in the last minute, or since it was first watched. */
  failedAt(nodeId: number, now: number): number {
    return this.#failures.get(nodeId)?.since(now, FAILED_MS).count ?? 0;
  }

  #forget(nodeId: number): void {
    this.#messages.delete(nodeId);
    this.#failures.delete(nodeId);
  }
}

/** Whether a node of a graph that was merged is now that of other instances than before. */
function isOfOthers(before: Node | undefined, { instances }: Node): boolean {
  return before !== undefined && before.instances.join() !== instances.join();
}

function growthOf<Key>(all: Map<Key, Growth>, key: Key): Growth {
  let growth = all.get(key);
  if (growth === undefined) all.set(key, (growth = new Growth()));
  return growth;
}
