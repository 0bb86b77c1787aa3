import type { LinkType } from "./link-type.ts";
import type { PatternCategory, PatternType } from "./pattern.ts";

/** A JSON value: what the properties of a node are made of. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Statistics of a duration since the process began, `max` as well: it is no maximum of a time window. `mean` and `max` in milliseconds. */
export interface TimerSnapshot {
  readonly count: number;
  readonly mean: number;
  readonly max: number;
}

/**
 * One integration component with its numbers as they were when the snapshot was taken. Fields as in spec section 2.7; REST does
 * not show those from `key` on.
 */
export interface NodeSnapshot {
  readonly nodeId: number;
  readonly componentType: string;
  readonly integrationPatternType: PatternType;
  readonly integrationPatternCategory: PatternCategory;
  readonly properties: { readonly [key: string]: JsonValue };
  readonly name: string;
  readonly observed: boolean;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly errors?: string | undefined;
  readonly discards?: string | undefined;
  readonly routes?: readonly string[] | undefined;
  readonly handlers?: readonly { readonly name: string; readonly type: string }[] | undefined;
  readonly sendTimers?: { readonly successes: TimerSnapshot; readonly failures: TimerSnapshot } | undefined;
  readonly receiveCounters?: { readonly successes: number; readonly failures: number } | undefined;
  /** The canonical name that `nodeId` is made of, the same in every instance; of a broker's channel, in every application. */
  readonly key: string;
  /** Messages a second: an average over the past whose weights fall by e each minute. */
  readonly rate: number;
  /** When the last message was seen, in milliseconds since the epoch. */
  readonly lastSeenTime?: number | undefined;
  /** Whether every source that declares the node was unreachable when it was last read. */
  readonly stale: boolean;
  /** The instances in which the node is, in order. Only in graphs that were merged. */
  readonly instances?: readonly string[] | undefined;
}

/**
 * A way that messages take between two nodes of the same snapshot; `count` messages were seen on it. `declared` if a source
 * or the application declares it; otherwise it was only seen. REST shows neither.
 */
export interface LinkSnapshot {
  readonly from: number;
  readonly to: number;
  readonly type: LinkType;
  readonly count: number;
  readonly declared: boolean;
}

/** Who provides the graph. */
export interface ContentDescriptor {
  readonly providerVersion: string;
  readonly providerFormatVersion: number;
  readonly provider: string;
  /** The application's name, where one is configured. */
  readonly name?: string | undefined;
  /** How often a node or link was left out since the process began, because of a limit or an unfit name. Left out: never. */
  readonly dropped?: number | undefined;
  /** How many names share a node with others, because they have ids or are temporary. Left out: none. */
  readonly collapsed?: number | undefined;
}

/** A broker that has a name of its own, and the first address by which it is known. */
export interface BrokerSnapshot {
  readonly system: string;
  readonly name: string;
  readonly address: string;
}

/** The whole graph at one moment. `revision` grows with every change of structure; numbers do not change it. */
export interface GraphSnapshot {
  readonly contentDescriptor: ContentDescriptor;
  readonly nodes: readonly NodeSnapshot[];
  readonly links: readonly LinkSnapshot[];
  readonly revision: number;
  /** A random id of the graph of one process. Left out in graphs that were merged. */
  readonly instanceId?: string | undefined;
  /** The brokers that have names of their own. Left out: none. */
  readonly brokers?: readonly BrokerSnapshot[] | undefined;
}
