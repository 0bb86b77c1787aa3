/** What a server process has used up so far: processor time of all its threads in µs, resident memory in bytes. */
export interface Usage {
  readonly cpu: number;
  readonly rss: number;
}

/**
 * The life of a server's process: says that it listens on `port`, answers every message with its usage, and ends when
 * the benchmark lets go of it. Called by the modules that {@link Server} starts.
 */
export function serving(port: number): void {
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send!({ cpu: user + system, rss: process.memoryUsage.rss() } satisfies Usage);
  });
  process.on("disconnect", () => process.exit());
  process.send!({ port });
}
