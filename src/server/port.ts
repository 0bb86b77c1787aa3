import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import type { TlsOptions as ServerTlsOptions, TLSSocket } from "node:tls";
import type { Connections } from "./connections.ts";
import { firstBytes } from "./first-bytes.ts";
import type { RequestHandler } from "./handler.ts";
import { http1Server } from "./http1.ts";
import type { Http2Sessions } from "./http2-sessions.ts";
import type { Limits } from "./limits.ts";
import { noteOwnConnection } from "./own-connections.ts";
import { openingOf, type Protocol, protocolOf } from "./preface.ts";

/** What the connections of a port meet. */
export interface PortParts {
  readonly handler: RequestHandler;
  readonly limits: Limits;
  readonly draining: () => boolean;
  readonly connections: Connections;
  readonly http2: Http2Sessions;
}

type Take = (socket: Socket) => void;

/**
 * A server that does not listen yet. Its own listener for connections is replaced by one that looks at the first bytes and
 * hands what is HTTP/2 over.
 */
export function cleartextPort({ handler, limits, draining, connections, http2 }: PortParts): Server {
  const server = http1Server(counted(handler, connections), limits, draining) as Server;
  const serveHttp1 = takeOver(server, "connection");
  server.on("connection", (socket: Socket) => {
    const connection = connections.admit(socket);
    if (connection === undefined) return void socket.destroy();
    firstBytes(socket, limits.protocolTimeoutMs, protocolOf, (protocol) => {
      connections.decided(socket);
      if (protocol === "h2") return http2.accept(socket, connection);
      noteOwnConnection(socket, connection);
      serveHttp1(socket);
    });
  });
  return server;
}

/**
 * The same over TLS, where the handshake says what is spoken (ALPN, RFC 7301); nothing said is HTTP/1.1. A request that
 * forgot TLS is told so.
 */
export function securePort(
  { handler, limits, draining, connections, http2 }: PortParts,
  tls: ServerTlsOptions,
): SecureServer {
  const server = http1Server(counted(handler, connections), limits, draining, tls) as SecureServer;
  const shakeHands = takeOver(server, "connection");
  const serveHttp1 = takeOver(server, "secureConnection");
  server.on("connection", (socket: Socket) => {
    if (connections.admit(socket) === undefined) return void socket.destroy();
    firstBytes(socket, limits.protocolTimeoutMs, openingOf, (opening) => {
      if (opening === "tls") shakeHands(socket);
      else if (opening === "plain") refusePlain(socket, limits.protocolTimeoutMs);
      else socket.destroy();
    });
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const serve = (protocol: Protocol) => {
      const connection = connections.of(socket);
      if (connection === undefined) return void socket.destroy();
      connections.decided(socket);
      if (protocol === "h2") return http2.accept(socket, connection);
      noteOwnConnection(socket, connection);
      serveHttp1(socket);
      readByEvents(socket);
    };
    if (socket.alpnProtocol === "h2") serve("h2");
    // What never asks for anything is as idle as one on a cleartext port, and ends like it.
    else firstBytes(socket, limits.protocolTimeoutMs, ({ length }) => (length > 0 ? "http/1.1" : undefined), serve);
  });
  return server;
}

/** Takes the place of Node's own listener, and returns what it does. */
function takeOver(server: Server | SecureServer, event: string): Take {
  const listener = server.listeners(event)[0] as Take;
  server.removeAllListeners(event);
  return (socket) => listener.call(server, socket);
}

/**
 * Keeps Node from parsing requests where TLS decrypts them. There, what has come in one packet is all parsed, also behind a
 * request that shall wait for answers to be read, which ends the connection ("Parse Error: Paused"). Any listener does that.
 */
function readByEvents(socket: TLSSocket): void {
  socket.on("data", () => {});
}

/** Tells connections of HTTP/1.1 when a request begins, and when its answer is over. */
function counted(handler: RequestHandler, connections: Connections): RequestHandler {
  return (req, res) => {
    const connection = connections.of(req.socket);
    if (connection !== undefined) {
      connection.began();
      res.on("close", () => connection.ended());
    }
    handler(req, res);
  };
}

const PLAIN_TEXT = "This port speaks TLS: use https instead of http.\n";

const PLAIN_ANSWER = [
  "HTTP/1.1 400 Bad Request",
  "Connection: close",
  "Content-Type: text/plain",
  `Content-Length: ${PLAIN_TEXT.length}`,
  "",
  PLAIN_TEXT,
].join("\r\n");

/** Reads on, so that the answer is not lost to a reset, until the client closes or for `timeoutMs`. */
function refusePlain(socket: Socket, timeoutMs: number): void {
  socket.on("error", () => socket.destroy());
  socket.resume();
  socket.end(PLAIN_ANSWER);
  const timer = setTimeout(() => socket.destroy(), timeoutMs || 1_000).unref();
  socket.once("close", () => clearTimeout(timer));
}
