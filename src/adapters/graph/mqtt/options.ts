/** A function that takes the messages of a client: those of all its subscriptions. */
export interface MqttConsumption {
  /** The listener's name, or "" where it has none. */
  readonly functionName: string;
  /** Whether it listens to "message", or is the client's own `handleMessage`. */
  readonly by: "message" | "handleMessage";
}

/** How the graph shows what MQTT.js does. */
export interface MqttOptions {
  /**
   * What a function that takes messages is called in the graph. By default, and where this gives undefined, by its own name;
   * without one `mqtt.messages`. Functions of one name are one node.
   */
  readonly name?: ((consumption: MqttConsumption) => string | undefined) | undefined;
}
