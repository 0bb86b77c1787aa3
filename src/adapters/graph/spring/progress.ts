import type { GraphHost, Outcome } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import type { RemoteNode, RemoteTimer } from "./remote-graph.ts";

const NOTHING: RemoteTimer = { count: 0, mean: 0, max: 0 };
/** An hour before this process began, on its clock: too long ago to be part of a rate, or to be shown as a time. */
const LONG_AGO = -3_600_000;

/**
 * Counts here what was added to the totals of a remote node since they were last read. Counts and means stay exact. A remote
 * application that was restarted shows less than before: then all of it is new. The times of the messages of the first
 * reading are not known: they are counted without being part of a rate.
 */
export class Progress {
  readonly #host: GraphHost;
  readonly #before = new Map<string, RemoteNode>();
  #isFirst = true;

  constructor(host: GraphHost) {
    this.#host = host;
  }

  /** `node` stands here for `remote`, which was read just now. */
  take(node: GraphNode, remote: RemoteNode): void {
    const before = this.#before.get(node.key);
    this.#before.set(node.key, remote);
    if (remote.sends !== undefined) {
      this.#time(node, before?.sends?.successes ?? NOTHING, remote.sends.successes, false);
      this.#time(node, before?.sends?.failures ?? NOTHING, remote.sends.failures, true);
    }
    if (remote.receives !== undefined) {
      this.#receive(node, before?.receives?.successes ?? 0, remote.receives.successes, false);
      this.#receive(node, before?.receives?.failures ?? 0, remote.receives.failures, true);
    }
  }

  /** Ends a reading of these nodes and forgets all others. */
  endReading(keys: ReadonlySet<string>): void {
    this.#isFirst = false;
    for (const key of this.#before.keys()) if (!keys.has(key)) this.#before.delete(key);
  }

  #time(node: GraphNode, before: RemoteTimer, now: RemoteTimer, failed: boolean): void {
    const since = now.count < before.count ? NOTHING : before;
    const count = now.count - since.count;
    if (count === 0) return;
    const total = Math.max(0, now.count * now.mean - since.count * since.mean);
    // The remote maximum covers a time window: it belongs to these messages only if it has risen.
    const longest = now.max > since.max ? Math.min(now.max, total) : total / count;
    this.#handled(node, { count: 1, failed }, longest);
    if (count > 1) this.#handled(node, { count: count - 1, failed }, (total - longest) / (count - 1));
  }

  #handled(node: GraphNode, outcome: Pick<Outcome, "count" | "failed">, duration: number): void {
    const end = this.#when();
    this.#host.handled(node, { ...outcome, start: end - duration, end });
  }

  #receive(node: GraphNode, before: number, now: number, failed: boolean): void {
    const count = now < before ? now : now - before;
    const end = this.#when();
    if (count > 0) this.#host.received(node, { start: end, end, count, failed });
  }

  #when(): number {
    return this.#isFirst ? LONG_AGO : performance.now();
  }
}
