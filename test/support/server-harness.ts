import { type EventEmitter, once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { RequestHandler } from "../../src/server/handler.ts";
import { createListener, type Listener, type ListenerOptions } from "../../src/server/listener.ts";

/** A listener on a free port of 127.0.0.1, closed when the test ends. */
export async function serve(
  handler: RequestHandler,
  options?: ListenerOptions,
): Promise<{ listener: Listener; port: number; url: string }> {
  const listener = createListener(handler, options);
  onTestFinished(() => listener.drain({ deadlineMs: 0 }));
  const { port, url } = await listener.listen({ port: 0 });
  return { listener, port, url };
}

/** Waits until `check` answers true; fails with `what` after half a minute. */
export async function eventually(check: () => boolean, what: () => string): Promise<void> {
  const end = performance.now() + 30_000;
  while (!check()) {
    if (performance.now() > end) throw new Error(`still not so after half a minute: ${what()}`);
    await delay(5);
  }
}

/** Resolves when a connection has closed. Unlike once(), also where a reset is its end. */
export function closeOf(connection: EventEmitter): Promise<void> {
  return new Promise((resolve) => connection.once("close", () => resolve()));
}

/** Waits until nothing is connected any more. */
export function emptied(listener: Listener): Promise<void> {
  return eventually(
    () => Object.values(listener.counts).every((count) => count === 0),
    () => JSON.stringify(listener.counts),
  );
}

/** A socket that says just what the test lets it say, and remembers what it hears. */
export interface RawClient {
  readonly socket: net.Socket;
  /** Everything received so far, as latin1. */
  readonly received: () => string;
  /** Resolves to everything received when the other side has closed or reset the connection. */
  readonly closed: Promise<string>;
}

/** Connects a {@link RawClient}; destroyed when the test ends. */
export async function rawClient(port: number, options: { read?: boolean } = {}): Promise<RawClient> {
  const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
  onTestFinished(() => void socket.destroy());
  const chunks: Buffer[] = [];
  const received = () => Buffer.concat(chunks).toString("latin1");
  if (options.read !== false) socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  const closed = closeOf(socket).then(received);
  await once(socket, "connect");
  return { socket, received, closed };
}

/** What a client got in answer. */
export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders | http2.IncomingHttpHeaders;
  readonly body: string;
}

/** One request over HTTP/1.1. Rejects where the answer is not complete. */
export async function http1Request(
  url: string,
  { body, ...options }: http.RequestOptions & { body?: string | Buffer } = {},
): Promise<Answer> {
  const req = http.request(url, options);
  req.end(body);
  const [res] = (await once(req, "response")) as [http.IncomingMessage];
  return { status: res.statusCode!, headers: res.headers, body: await textOf(res) };
}

/** An HTTP/2 connection with prior knowledge; destroyed when the test ends. */
export async function http2Connect(url: string): Promise<http2.ClientHttp2Session> {
  const session = http2.connect(url);
  onTestFinished(() => session.destroy());
  session.on("error", () => {});
  await once(session, "connect");
  return session;
}

/** One request over HTTP/2. Rejects where the answer is not complete. */
export async function http2Request(
  session: http2.ClientHttp2Session,
  { body, ...headers }: http2.OutgoingHttpHeaders & { body?: string | Buffer },
): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const answer = await Promise.race([
    once(stream, "response").then(([headers]) => headers as http2.IncomingHttpHeaders),
    once(stream, "close").then(() => Promise.reject(new Error("closed without an answer"))),
  ]);
  return { status: Number(answer[":status"]), headers: answer, body: await textOf(stream) };
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  if ("rstCode" in stream && stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR) {
    throw new Error(`stream ended with code ${stream.rstCode}`);
  }
  return Buffer.concat(chunks).toString();
}
