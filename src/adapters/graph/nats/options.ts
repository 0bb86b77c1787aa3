/** A function that takes messages, or a loop that does. */
export interface NatsConsumption {
  /** The subject of a subscription, wildcards and all. Of a consumer of JetStream: undefined. */
  readonly subject: string | undefined;
  /** The queue group of a subscription, if it has one. */
  readonly queue: string | undefined;
  /** The stream that a consumer of JetStream reads. */
  readonly stream: string | undefined;
  /** The consumer of JetStream, unless it is one without a name of its own. */
  readonly consumer: string | undefined;
  /** The callback's name, or "" where it has none and for loops. */
  readonly functionName: string;
}

/** How the graph shows what clients of NATS do. */
export interface NatsOptions {
  /**
   * What a subscriber is called in the graph. By default, and where this gives undefined, the callback's name; without one,
   * and for loops, `<queue group or subject>.subscriber`, for JetStream `<consumer or stream>.consumer`. Subscribers of one name
   * are one node.
   */
  readonly name?: ((consumption: NatsConsumption) => string | undefined) | undefined;
  /** Whether the graph asks all services of the broker for their endpoints, at every rebuild. False by default. */
  readonly services?: boolean | undefined;
}
