import { setTimeout as delay } from "node:timers/promises";

/** A server that can be drained. Everything but `closed` returns at once and may be called again. */
export interface Drainable {
  /** Accepts no further connection. Answers from now on say that their connection closes. */
  stopListening(): void;
  /** Ends the answers that never end by themselves. */
  endStreams(): void;
  /** Takes no further request on known connections, as far as their protocol can refuse one. */
  stopAccepting(): void;
  /** Closes the connections without a request under way. */
  closeIdle(): void;
  /** Ends every connection, whatever is under way. */
  destroy(): void;
  /** Settles when the last connection is gone. */
  readonly closed: Promise<void>;
}

/** How often connections that turned idle are closed while answers are under way. */
const ROUND_MS = 50;

/**
 * Ends a server so that no accepted request loses its answer: no new connections, then endless answers end, then requests
 * are refused where clients can know it, then, after `graceMs`, connections close as they turn idle. When `deadline`
 * aborts, what is left ends at once. Resolves when no connection is left.
 */
export async function drain(server: Drainable, graceMs: number, deadline: AbortSignal): Promise<void> {
  server.stopListening();
  server.endStreams();
  server.stopAccepting();
  await pause(graceMs, server.closed, deadline);
  while (!deadline.aborted && !(await pause(0, server.closed, deadline))) {
    server.endStreams();
    server.closeIdle();
    await pause(ROUND_MS, server.closed, deadline);
  }
  if (deadline.aborted) server.destroy();
  await server.closed;
}

/** Waits for `ms`, or until closed or the deadline. Resolves to whether it is closed. */
async function pause(ms: number, closed: Promise<void>, deadline: AbortSignal): Promise<boolean> {
  const cancel = new AbortController();
  const signal = AbortSignal.any([cancel.signal, deadline]);
  const waited = delay(ms, false, { signal }).catch(() => false);
  const isClosed = await Promise.race([closed.then(() => true), waited]);
  cancel.abort();
  return isClosed;
}
