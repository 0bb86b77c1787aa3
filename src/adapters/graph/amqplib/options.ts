/** A function that consumes a queue. */
export interface Consumption {
  /** As the graph shows it: `amq.gen-*` for a queue that the broker named. */
  readonly queue: string;
  /** The function's name, or "" where it has none. */
  readonly functionName: string;
  /** The tag that the application gave it, if it did. */
  readonly consumerTag: string | undefined;
}

/** How the graph shows what amqplib does. */
export interface AmqplibOptions {
  /**
   * The virtual host of the connections, "/" by default. amqplib does not keep the one that it was given, so an application
   * with another one has to say it here, else its queues are taken for those of "/".
   */
  readonly vhost?: string | undefined;
  /**
   * What a consumer is called in the graph. By default, and where this gives undefined, `<queue>.<function's name>`, or
   * `<queue>.consumer` for a function without a name. Consumers of one name are one node.
   */
  readonly name?: ((consumption: Consumption) => string | undefined) | undefined;
}
