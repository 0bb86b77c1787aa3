/** What the services keep to. */
export interface ServiceLimits {
  /** The largest page of a list, in bytes of protobuf. */
  readonly maxBytes: number;
  /** How often a stream without news has a heartbeat, in milliseconds. */
  readonly heartbeatMs: number;
}
