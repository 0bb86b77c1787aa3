import { hostname } from "node:os";
import { threadId } from "node:worker_threads";

/** The name of this process among others: host and process id, and that of the thread in a worker. */
export function instanceName(): string {
  const thread = threadId === 0 ? "" : `:${threadId}`;
  return `${hostname()}:${process.pid}${thread}`;
}
