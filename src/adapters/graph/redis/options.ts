/** A function that listens, as its name in the graph is asked for. */
export interface SubscriberDescription {
  readonly kind: "channel" | "sharded-channel" | "pattern";
  /** The channel or pattern, as the graph shows it. */
  readonly channel: string;
  /** The function's name, or "" where it has none. */
  readonly functionName: string;
}

/** How {@link redisMessaging} watches. */
export interface RedisMessagingOptions {
  /**
   * What a function that listens is called in the graph. By default, and where this gives undefined,
   * `<channel>.<function's name>`, or `<channel>.subscriber` for a function without a name.
   */
  readonly name?: ((subscriber: SubscriberDescription) => string | undefined) | undefined;
  /**
   * Whether Redis is asked, at first and at every rebuild, for the channels that anybody subscribes to and for the consumer groups of
   * the streams that are known; false by default. Reads PUBSUB and XINFO GROUPS on a watched client that has no subscriptions,
   * at most 200 channels and 100 streams.
   */
  readonly discover?: boolean | undefined;
}

/** What a function of the application handles: the entries of a stream, or those that a consumer group gets. */
export interface StreamSource {
  /** The stream's key, without a prefix that the client adds. */
  readonly stream: string;
  readonly group?: string | undefined;
  /** What the function is called in the graph where there is no group; by default `<stream>.<function's name>`. */
  readonly name?: string | undefined;
}
