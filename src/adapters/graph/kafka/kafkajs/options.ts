/** A consumer group that reads a topic. */
export interface Consumption {
  readonly groupId: string;
  /** As the graph shows it. */
  readonly topic: string;
}

/** How the graph shows what kafkajs does. */
export interface KafkajsOptions {
  /**
   * The id of the cluster, where the application knows it. By default it is asked for with a short connection of its own, once for
   * each Kafka object, when the first of its clients has connected. Given, no connection is opened.
   */
  readonly clusterId?: string | undefined;
  /**
   * What the handler of a group and a topic is called in the graph; by default, and where this gives undefined, `<group>@<topic>`.
   * Handlers of one name are one node.
   */
  readonly name?: ((consumption: Consumption) => string | undefined) | undefined;
}
