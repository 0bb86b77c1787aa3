import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import { type ActuatorAddress, http2Connection } from "../peers/client-transport.ts";
import { type Connection, connectionTo } from "./connection.ts";

/** How long the server may take to show that it speaks HTTP/2, connecting included. */
const TIMEOUT_MS = 2_000;

/**
 * Calls `use` with a connection over HTTP/2 if the server speaks it, and with the same one if not. Any failure is left to the calls over
 * the latter.
 */
export async function preferHttp2<T>(connection: Connection, use: (connection: Connection) => Promise<T>): Promise<T> {
  const { address } = connection;
  if (!(await speaksHttp2(address))) return use(connection);
  const http2 = http2Connection(address);
  try {
    return await use(connectionTo(address, http2));
  } finally {
    http2.abort();
  }
}

/** Sends no request, so that nothing appears in a log of requests. */
async function speaksHttp2(address: ActuatorAddress): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const isTls = address.socketPath === undefined && address.url.startsWith("https:");
  const end = isTls ? negotiate(address, resolve) : ping(address, resolve);
  const timer = setTimeout(() => resolve(false), TIMEOUT_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    end();
  }
}

type Answer = (isHttp2: boolean) => void;

/** Over TLS the server chooses one of the protocols that it is offered. */
function negotiate({ url, tls: credentials }: ActuatorAddress, answer: Answer): () => void {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = tls.connect({
    ...credentials,
    host,
    port: Number(port || 443),
    ...(net.isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ["h2", "http/1.1"],
  });
  socket.on("secureConnect", () => answer(socket.alpnProtocol === "h2"));
  socket.on("error", () => answer(false)).on("close", () => answer(false));
  // A server could report a connection that is reset as an error of its client.
  return () => void socket.resume().end().unref();
}

/** In cleartext, a server that speaks HTTP/2 answers a PING. One that speaks HTTP/1.1 refuses the first bytes, or is silent. */
function ping({ url, socketPath }: ActuatorAddress, answer: Answer): () => void {
  const session =
    socketPath === undefined
      ? http2.connect(url)
      : http2.connect("http://localhost", { createConnection: () => net.connect(socketPath) });
  session.on("connect", () => session.ping((error) => answer(error === null)));
  session.on("error", () => answer(false)).on("close", () => answer(false));
  return () => session.destroy();
}
