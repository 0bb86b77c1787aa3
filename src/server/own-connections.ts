import type { Http2ServerRequest } from "node:http2";
import type { Connection } from "./connection.ts";
import type { ServerRequest } from "./handler.ts";

const connections = new WeakMap<object, Connection>();

/** Notes that a socket of HTTP/1.1, or a session of HTTP/2, is one of a port of the actuator's own. */
export function noteOwnConnection(carrier: object, connection: Connection): void {
  connections.set(carrier, connection);
}

/**
 * Whether a request came by a port of the actuator's own. A server of the application asks for certificates for reasons of its
 * own: they may be those of all its customers.
 */
export function isOnOwnPort(req: ServerRequest): boolean {
  return connections.has(carrierOf(req));
}

/**
 * Notes that whoever makes a request has said who they are, and was let in: their connection makes room for no other while a
 * request is under way on it. Does nothing on a server of the application's own.
 */
export function markAuthenticated(req: ServerRequest): void {
  connections.get(carrierOf(req))?.markAuthenticated();
}

/** What stays the same for all requests of a connection: over HTTP/2 each stream has a stand-in for the socket of its own. */
export function carrierOf(req: ServerRequest): object {
  return (req as Http2ServerRequest).stream?.session ?? req.socket;
}
