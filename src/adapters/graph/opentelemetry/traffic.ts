import type { Span } from "./span.ts";

/** What a span says happened to messages. */
export type Operation = "send" | "receive" | "process";

/**
 * What a span says of messages, as raw as it says it. One is made of every such span, compared with those before by `===`,
 * and looked into only where none was the same.
 */
export interface Reading {
  readonly operation: Operation;
  readonly system: string;
  /** What names the destination best. */
  readonly destination: string;
  /** What else tells destinations apart; each dialect has a use of its own for it. */
  readonly detail?: string | undefined;
  /** The consumer group, the subscription or whatever tells consumers of one destination apart. */
  readonly group?: string | undefined;
  /** Where the broker is, or all that is said of it. */
  readonly address?: string | undefined;
  readonly port?: unknown;
  /** What the broker calls itself. */
  readonly cluster?: string | undefined;
}

/** A destination of a broker. */
export interface Destination {
  /** As the keys of channels name it: "queue", "topic" … */
  readonly kind: string;
  readonly name: string;
  /** What stands before the name in its key, such as the virtual host. */
  readonly scope?: string | undefined;
}

/** What a reading means. */
export interface Traffic {
  readonly operation: Operation;
  /** As the keys of channels name it. */
  readonly system: string;
  readonly destination: Destination;
  /** The exchange that a message was published to, before it came to the queue. */
  readonly exchange?: Destination | undefined;
  readonly group?: string | undefined;
  /** What tells those who process apart otherwise, such as a worker's name. */
  readonly handler?: string | undefined;
  /** host:port; undefined where spans do not tell. */
  readonly address?: string | undefined;
  readonly cluster?: string | undefined;
}

/** How one instrumentation describes messages. */
export interface Dialect {
  /** The names of the instrumentation scopes that speak it. */
  readonly scopes: readonly string[];
  /** What a span says; undefined where it says nothing of messages, or what another span says again. */
  read(span: Span): Reading | undefined;
  /** What that means. Asked for once for equal readings. */
  understand(reading: Reading): Traffic;
}

/** The attributes that tell how many messages a span stands for. */
export const COUNT_ATTRIBUTES = ["messaging.batch.message_count", "bullmq.job.bulk.count"] as const;

/** More messages than that in one span are not believed. */
const MAX_COUNT = 1_000_000;

/** How many messages a span stands for. */
export function countOf({ attributes }: Span): number {
  const said = attributes[COUNT_ATTRIBUTES[0]] ?? attributes[COUNT_ATTRIBUTES[1]];
  if (said === undefined) return 1;
  const count = Number(said);
  return Number.isInteger(count) && count >= 0 && count <= MAX_COUNT ? count : 1;
}
