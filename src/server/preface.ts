import type { Socket } from "node:net";

/** The protocols that share one cleartext port. */
export type Protocol = "http/1.1" | "h2";

/** The first bytes of an HTTP/2 connection with prior knowledge (RFC 9113 section 3.4). */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/**
 * Reads as much of a new connection as tells its protocol, puts it back and calls `found` once. A socket that ends,
 * fails or stays silent for `timeoutMs` before is destroyed and `found` never called. Afterwards the socket carries no
 * listener of this function.
 */
export function detectProtocol(socket: Socket, timeoutMs: number, found: (protocol: Protocol) => void): void {
  let head: Buffer = Buffer.alloc(0);
  const giveUp = () => socket.destroy();
  const timer = setTimeout(giveUp, timeoutMs).unref();
  // Without a listener, the reset of a connection that nobody owns yet would be an uncaught exception.
  const listeners = { readable: onReadable, end: giveUp, error: giveUp, close: release };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);

  function onReadable(): void {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    }
    const protocol = protocolOf(head);
    if (protocol === undefined) return;
    release();
    socket.unshift(head);
    found(protocol);
  }

  function release(): void {
    clearTimeout(timer);
    for (const [event, listener] of Object.entries(listeners)) socket.removeListener(event, listener);
  }
}

/**
 * The protocol of a connection that begins with these bytes; undefined while they fit both. One byte does not decide:
 * POST, PUT, PATCH and PROPFIND begin like the preface.
 */
export function protocolOf(head: Buffer): Protocol | undefined {
  const length = Math.min(head.length, PREFACE.length);
  if (PREFACE.compare(head, 0, length, 0, length) !== 0) return "http/1.1";
  return length === PREFACE.length ? "h2" : undefined;
}
