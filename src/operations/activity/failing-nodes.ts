import type { NodeCounts } from "../../integration-graph/counts.ts";
import { LastMinute } from "./last-minute.ts";

/** A node that counted failures in the last minute. */
export interface FailingNode {
  readonly nodeId: number;
  readonly key: string;
  readonly name: string;
  readonly pattern: string;
  /** In the last minute. */
  readonly failures: number;
  /** In the last minute. */
  readonly messages: number;
  /** When it began to fail, in milliseconds since the epoch: since then no minute was without a failure, as far as it was watched. */
  readonly since: number;
  /** The failures between two samples, oldest first. */
  readonly history: readonly number[];
}

const MINUTE_MS = 60_000;
/** How many nodes have a history, those that failed last. */
const MAX_TRACKED = 300;
/** How many nodes are reported. */
const MAX_REPORTED = 100;

const HOUR_MS = 60 * MINUTE_MS;

interface Tracked {
  readonly failures: LastMinute;
  readonly messages: LastMinute;
  readonly history: number[];
  /** How many failures the node had counted at the last sample. */
  sampled: number;
  since: number;
  lastFailure: number;
}

/** The nodes that fail, with the history of their failures. */
export class FailingNodes {
  readonly #maxSamples: number;
  /** Those that failed within the last hour; at each look, those that fail are moved to the end. */
  readonly #tracked = new Map<number, Tracked>();

  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /**
   * Looks at the counts of all nodes. Returns how many fail, and those with the most failures.
   *
   * @param now a reading of `performance.now()`
   * @param isSample whether an interval of the histories ends with this look
   */
  look(nodes: readonly NodeCounts[], now: number, isSample: boolean) {
    const failing = nodes.filter(({ lastFailure }) => lastFailure > 0 && now - lastFailure < MINUTE_MS);
    for (const node of failing) this.#track(node, now);
    this.#forget(now);
    const reported: FailingNode[] = [];
    for (const { nodeId, key, name, pattern, counts, lastFailure } of nodes) {
      const tracked = this.#tracked.get(nodeId);
      if (tracked === undefined) continue;
      // One failed at least, however little an average over the past has left of it.
      const failures = Math.max(1, Math.round(tracked.failures.add(now, counts.failures)));
      const messages = Math.max(failures, Math.round(tracked.messages.add(now, counts.messages)));
      if (isSample) this.#sample(tracked, counts.failures);
      if (now - lastFailure >= MINUTE_MS) continue;
      const { since, history } = tracked;
      reported.push({ nodeId, key, name, pattern, failures, messages, since, history: [...history] });
    }
    reported.sort((a, b) => b.failures - a.failures || b.since - a.since);
    return { count: failing.length, reported: reported.slice(0, MAX_REPORTED) };
  }

  #track({ nodeId, counts, rates, lastFailure }: NodeCounts, now: number): void {
    const known = this.#tracked.get(nodeId);
    this.#tracked.delete(nodeId);
    const wallTime = Math.round(Date.now() - (now - lastFailure));
    const tracked = known ?? {
      failures: new LastMinute(now, counts.failures, rates.failures),
      messages: new LastMinute(now, counts.messages, rates.messages),
      history: [],
      sampled: counts.failures - Math.max(1, Math.round(rates.failures * 60)),
      since: wallTime,
      lastFailure,
    };
    if (lastFailure - tracked.lastFailure >= MINUTE_MS) tracked.since = wallTime;
    tracked.lastFailure = lastFailure;
    this.#tracked.set(nodeId, tracked);
  }

  #forget(now: number): void {
    for (const [nodeId, { lastFailure }] of this.#tracked) {
      if (this.#tracked.size > MAX_TRACKED || now - lastFailure > HOUR_MS) this.#tracked.delete(nodeId);
    }
  }

  #sample(tracked: Tracked, failures: number): void {
    tracked.history.push(Math.max(0, failures - tracked.sampled));
    tracked.history.splice(0, tracked.history.length - this.#maxSamples);
    tracked.sampled = failures;
  }
}
