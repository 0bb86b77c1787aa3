/** How spans are read. */
export interface OpenTelemetryOptions {
  /**
   * The brokers of systems whose spans do not tell where theirs is, by system: `{ bullmq: "127.0.0.1:6379/0" }`. Spans of BullMQ
   * and kafkajs never do; Kafka's are recognised by what the cluster calls itself, once they tell it.
   */
  readonly brokers?: { readonly [system: string]: string } | undefined;
  /**
   * Says that the sampler lets only some spans through, which cannot be seen from here: every node that spans tell of then has the
   * property `sampled`. Default: false, as where `recordAll` is in use or everything is sampled.
   */
  readonly sampled?: boolean | undefined;
  /** How long a component that spans told of outlives its last message, in milliseconds; 1 hour by default. */
  readonly maxAgeMs?: number | undefined;
  /** How many components spans can tell of, 1,000 by default. */
  readonly maxNodes?: number | undefined;
}
