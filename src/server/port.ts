import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import type { TlsOptions as ServerTlsOptions, TLSSocket } from "node:tls";
import type { Connections } from "./connections.ts";
import { noteOwnConnection } from "./connections.ts";
import type { RequestHandler } from "./handler.ts";
import { http1Server } from "./http1.ts";
import type { Http2Sessions } from "./http2-sessions.ts";
import type { Limits } from "./limits.ts";

/** The parts that handle the connections of a port. */
export interface PortParts {
  readonly handler: RequestHandler;
  readonly limits: Limits;
  readonly draining: () => boolean;
  readonly connections: Connections;
  readonly http2: Http2Sessions;
}

type Take = (socket: Socket) => void;

/**
 * Makes a server that does not listen yet. Its own listener for connections is replaced by one that reads the first bytes and
 * passes HTTP/2 connections on.
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
 * The same over TLS, where the handshake negotiates the protocol (ALPN, RFC 7301); without ALPN it is HTTP/1.1. A request without
 * TLS gets an answer that says so.
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
    // A connection without a request ends as on a cleartext port.
    else firstBytes(socket, limits.protocolTimeoutMs, ({ length }) => (length > 0 ? "http/1.1" : undefined), serve);
  });
  return server;
}

/** Removes the listener of Node.js, and returns it as a function. */
function takeOver(server: Server | SecureServer, event: string): Take {
  const listener = server.listeners(event)[0] as Take;
  server.removeAllListeners(event);
  return (socket) => listener.call(server, socket);
}

/**
 * Keeps Node.js from parsing requests right where TLS decrypts them. There it parses everything in one packet, even behind a
 * request that must wait for answers to be read, which ends the connection ("Parse Error: Paused"). Any listener prevents that.
 */
function readByEvents(socket: TLSSocket): void {
  socket.on("data", () => {});
}

/** Notes on HTTP/1.1 connections when a request begins and when its answer is over. */
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

/** Keeps reading until the client closes or for `timeoutMs`, so that a reset does not lose the answer. */
function refusePlain(socket: Socket, timeoutMs: number): void {
  socket.on("error", () => socket.destroy());
  socket.resume();
  socket.end(PLAIN_ANSWER);
  const timer = setTimeout(() => socket.destroy(), timeoutMs || 1_000).unref();
  socket.once("close", () => clearTimeout(timer));
}

/**
 * Reads as much of a new connection as `decide` needs for an answer other than undefined, puts it back and calls `found`
 * once. A socket that ends, fails or stays silent for `timeoutMs` (0: no limit) before is destroyed and `found` never
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
  // Without a listener, the reset of a connection would be an uncaught exception here.
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

/** The protocols that share one port. */
export type Protocol = "http/1.1" | "h2";

/** The first bytes of an HTTP/2 connection with prior knowledge (RFC 9113 section 3.4). */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/**
 * The protocol of a cleartext connection that begins with these bytes; undefined while they fit both. One byte does not
 * decide: POST, PUT, PATCH and PROPFIND begin like the preface.
 */
export function protocolOf(head: Buffer): Protocol | undefined {
  const length = Math.min(head.length, PREFACE.length);
  if (PREFACE.compare(head, 0, length, 0, length) !== 0) return "http/1.1";
  return length === PREFACE.length ? "h2" : undefined;
}

/** How a connection to a TLS port begins: with a handshake, with a request without TLS, or with something unknown. */
export type Opening = "tls" | "plain" | "unknown";

const HANDSHAKE = 22;

/** The opening that the first byte shows (RFC 8446 section 5.1); undefined for none yet. Methods of HTTP begin with a letter. */
export function openingOf([first]: Uint8Array): Opening | undefined {
  if (first === undefined) return undefined;
  if (first === HANDSHAKE) return "tls";
  return /[A-Za-z]/.test(String.fromCharCode(first)) ? "plain" : "unknown";
}
