import type { Connection } from "./connection.ts";
import type { ServerRequest } from "./handler.ts";
import { connectionOf } from "./peer.ts";

const connections = new WeakMap<object, Connection>();

/** Notes what the books of a port call a socket of HTTP/1.1, or a session of HTTP/2. */
export function noteConnection(carrier: object, connection: Connection): void {
  connections.set(carrier, connection);
}

/**
 * Notes that whoever makes a request has said who they are, and was let in: their connection gives way to no other until it is
 * idle. Does nothing on a server of the application's own.
 */
export function noteKnownCaller(req: ServerRequest): void {
  connections.get(connectionOf(req))?.noteKnown();
}
