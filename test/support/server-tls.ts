import { once } from "node:events";
import http2 from "node:http2";
import https from "node:https";
import tls from "node:tls";
import { onTestFinished } from "vitest";
import type { RequestHandler } from "../../src/server/handler.ts";
import { createListener, type Listener, type ListenerOptions } from "../../src/server/listener.ts";
import type { TlsOptions } from "../../src/server/tls-options.ts";
import { type Authority, authority, type KeyPair } from "./certificates.ts";
import type { Answer, RawClient } from "./server-harness.ts";

/** What the tests of TLS trust, and a certificate of it for this machine. */
export interface Trust {
  readonly authority: Authority;
  readonly server: KeyPair;
}

let trust: Promise<Trust> | undefined;

/** The same for all tests of a file: keys take time. */
export function testTrust(): Promise<Trust> {
  trust ??= authority().then(async (root) => ({ authority: root, server: await root.issue("server") }));
  return trust;
}

/** A listener with TLS on a free port of 127.0.0.1, closed when the test ends. */
export async function serveTls(
  handler: RequestHandler,
  options: Partial<TlsOptions> = {},
  listenerOptions?: ListenerOptions,
): Promise<{ listener: Listener; port: number; url: string }> {
  const { server } = await testTrust();
  const listener = createListener(handler, listenerOptions);
  onTestFinished(() => listener.drain({ deadlineMs: 0 }));
  const { port, url } = await listener.listen({ port: 0, tls: { ...server, ...options } });
  return { listener, port, url };
}

/** A TLS connection whose handshake is done, as {@link RawClient}. Rejects where there is none. */
export async function tlsClient(
  port: number,
  { read = true, ...options }: tls.ConnectionOptions & { read?: boolean } = {},
): Promise<RawClient & { readonly socket: tls.TLSSocket }> {
  const { ca } = (await testTrust()).authority;
  const socket = tls.connect({ port, host: "127.0.0.1", ca, ...options });
  onTestFinished(() => void socket.destroy());
  const chunks: Buffer[] = [];
  const received = () => Buffer.concat(chunks).toString("latin1");
  if (read) socket.on("data", (chunk) => chunks.push(chunk));
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(received())));
  await once(socket, "secureConnect");
  socket.on("error", () => {});
  return { socket, received, closed };
}

/** One request over HTTP/1.1 and TLS. */
export async function httpsRequest(
  url: string,
  { body, ...options }: https.RequestOptions & { body?: string | Buffer } = {},
): Promise<Answer> {
  const { ca } = (await testTrust()).authority;
  const req = https.request(url, { ca, ...options });
  req.end(body);
  const [res] = await once(req, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk);
  return { status: res.statusCode, headers: res.headers, body: Buffer.concat(chunks).toString() };
}

/** An HTTP/2 connection over TLS; destroyed when the test ends. */
export async function http2ConnectTls(
  url: string,
  options: http2.SecureClientSessionOptions = {},
): Promise<http2.ClientHttp2Session> {
  const { ca } = (await testTrust()).authority;
  const session = http2.connect(url, { ca, ...options });
  onTestFinished(() => session.destroy());
  const failed = once(session, "error").then(([error]) => Promise.reject(error));
  failed.catch(() => {});
  await Promise.race([once(session, "connect"), failed]);
  session.on("error", () => {});
  return session;
}
