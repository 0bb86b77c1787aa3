import type { Agent } from "node:http";
import { connect } from "node:net";
import { rootCertificates, type SecureContextOptions } from "node:tls";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";

/** The maximum size of one answer: far more than an actuator sends, to limit what other servers can send. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** The same for an answer of one of many. */
export const MAX_PEER_ANSWER_BYTES = 8 * 1024 * 1024;

/** Authorities to trust besides those of Node.js. */
export function authoritiesWith(ca: string): string[] {
  return [...rootCertificates, ca];
}

/** How an actuator is reached. */
export interface ActuatorAddress {
  /** With the path that the actuator is mounted under. */
  readonly url: string;
  /** The Unix socket that is called instead of the host of the URL. */
  readonly socketPath?: string | undefined;
  /** Sent as a bearer token. Check it first: if a header cannot carry it, each call fails with an error of Node.js that repeats it. */
  readonly token?: string | undefined;
  /** The default timeout of a call, in milliseconds. Default none. */
  readonly timeoutMs?: number | undefined;
  /** The maximum size of one answer. Default 64 MB. */
  readonly maxAnswerBytes?: number | undefined;
  /** What makes connections over HTTP/1.1. Default: one for all of Node.js. */
  readonly agent?: Agent | undefined;
  /** The authorities to trust, and the client certificate. */
  readonly tls?: Pick<SecureContextOptions, "ca" | "cert" | "key"> | undefined;
}

/** The HTTP/2 connection to an actuator, for {@link clientTransport}. Call its `abort` in the end: it keeps the process alive. */
export function http2Connection(address: ActuatorAddress): Http2SessionManager {
  const { socketPath, tls } = address;
  const options = socketPath === undefined ? { ...tls } : { createConnection: () => connect(socketPath) };
  return new Http2SessionManager(baseUrlOf(address), undefined, options);
}

/**
 * Creates the transport to an actuator; it connects with the first call. By default it uses Connect over HTTP/1.1, which passes every port,
 * mount and proxy of an actuator, also for streams, because none of them is bidirectional.
 */
export function clientTransport(address: ActuatorAddress, http2?: Http2SessionManager): Transport {
  const { socketPath, token, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES, agent, tls } = address;
  const options = {
    baseUrl: baseUrlOf(address),
    useBinaryFormat: true,
    readMaxBytes: maxAnswerBytes,
    interceptors: token === undefined ? [] : [bearer(token)],
    ...(timeoutMs !== undefined && { defaultTimeoutMs: timeoutMs }),
  };
  if (http2 !== undefined) return createConnectTransport({ ...options, httpVersion: "2", sessionManager: http2 });
  const nodeOptions = { ...(socketPath === undefined ? tls : { socketPath }), ...(agent && { agent }) };
  return createConnectTransport({ ...options, httpVersion: "1.1", nodeOptions });
}

function baseUrlOf({ url, socketPath }: ActuatorAddress): string {
  return socketPath === undefined ? url.replace(/\/+$/, "") : "http://localhost";
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}
