/** The options of `connect()` of `@nats-io/transport-node`. */
export interface NatsFleetOptions {
  /** The addresses of the servers. Default: port 4222 of this machine. */
  readonly servers?: string | readonly string[] | undefined;
  readonly [option: string]: unknown;
}
