import type { GraphNode } from "./node.ts";
import { isChannel, type PatternType } from "./pattern.ts";

/** What a node has counted since the process began. Costs less than a snapshot, for what looks often. */
export interface NodeCounts {
  readonly nodeId: number;
  readonly key: string;
  readonly name: string;
  readonly pattern: PatternType;
  readonly counts: Counted;
  /** The same a second: averages over the past whose weights fall by e each minute. */
  readonly rates: Counted;
  /** When the last failure was counted, as a reading of `performance.now()`; 0: never. */
  readonly lastFailure: number;
}

/** Numbers of messages. */
export interface Counted {
  /** All that the node sent, handled or took, by any outcome. */
  readonly messages: number;
  /** Those of them that failed. */
  readonly failures: number;
  /**
   * What the node adds to the messages of the whole graph: all at a component, none at a channel that leads on to another node, and
   * what was sent at any other channel. So a message counts once at each component on its way.
   */
  readonly steps: number;
}

/** The counts of nodes; `now` is a reading of `performance.now()`. */
export function countsOf(nodes: readonly GraphNode[], now: number): NodeCounts[] {
  return nodes.map((node) => {
    const { id: nodeId, key, name, pattern, sends, receives, outgoing } = node;
    const isComponent = !isChannel(pattern);
    const isEnd = isComponent || outgoing.size === 0;
    const counted = (sent: number, received: number, failures: number): Counted => ({
      messages: sent + received,
      failures,
      steps: (isEnd ? sent : 0) + (isComponent ? received : 0),
    });
    const failed = [sends.failures, receives.failures] as const;
    return {
      nodeId,
      key,
      name,
      pattern,
      counts: counted(
        sends.successes.count + sends.failures.count,
        receives.successes.count + receives.failures.count,
        failed[0].count + failed[1].count,
      ),
      rates: counted(sends.rate(now), receives.rate(now), failed[0].rate(now) + failed[1].rate(now)),
      lastFailure: Math.max(failed[0].last, failed[1].last),
    };
  });
}
