import type { Socket } from "node:net";

/**
 * Reads as much of a new connection as `decide` needs for an answer other than undefined, puts it back and calls `found`
 * once. A socket that ends, fails or stays silent for `timeoutMs` (0: for ever) before is destroyed and `found` never
 * called. Afterwards the socket carries no listener of this function.
 */
export function firstBytes<Answer>(
  socket: Socket,
  timeoutMs: number,
  decide: (head: Buffer) => Answer | undefined,
  found: (answer: Answer) => void,
): void {
  let head: Buffer = Buffer.alloc(0);
  const giveUp = () => socket.destroy();
  const timer = timeoutMs > 0 ? setTimeout(giveUp, timeoutMs).unref() : undefined;
  // Without a listener, the reset of a connection that nobody owns yet would be an uncaught exception.
  const listeners = { readable: onReadable, end: giveUp, error: giveUp, close: release };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);

  function onReadable(): void {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    }
    const answer = decide(head);
    if (answer === undefined) return;
    release();
    socket.unshift(head);
    found(answer);
  }

  function release(): void {
    clearTimeout(timer);
    for (const [event, listener] of Object.entries(listeners)) socket.removeListener(event, listener);
  }
}
