/** A worker, as its name in the graph is asked for. */
export interface WorkerDescription {
  /** The name of its queue, as the graph shows it. */
  readonly queue: string;
  /** The name that the application gave to the worker, if it did. */
  readonly workerName: string | undefined;
  /** The name of its function, or "" where it has none or runs in another process. */
  readonly functionName: string;
}

/** How {@link bullmq} watches. */
export interface BullmqOptions {
  /**
   * What a worker is called in the graph. By default, and where this gives undefined, `<queue>.<worker's name>`, else
   * `<queue>.<function's name>`, else `<queue>.worker`. Workers of one name are one node.
   */
  readonly name?: ((worker: WorkerDescription) => string | undefined) | undefined;
  /**
   * Whether Redis is asked, at first and at every rebuild, for all queues under the prefixes of what is watched, for their job
   * schedulers and for their workers in any process; false by default. Reads SCAN, CLIENT LIST, ZRANGE and HMGET on the
   * connection of a watched queue or worker, at most 200 queues. Not on a cluster.
   */
  readonly discover?: boolean | undefined;
}
