import { connect } from "node:net";
import type { SecureContextOptions } from "node:tls";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";

/** The maximum size of one answer: far more than an actuator sends, to limit what other servers can send. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** How an actuator is reached. */
export interface ActuatorAddress {
  /** With the path that the actuator is mounted under; without a `/` at the end. */
  readonly url: string;
  /** The Unix socket that is called instead of the host of the URL. */
  readonly socketPath?: string | undefined;
  /** Sent as a bearer token. Check it first: if a header cannot carry it, each call fails with an error of Node.js that repeats it. */
  readonly token?: string | undefined;
  /** The default timeout of a call, in milliseconds. Default none. */
  readonly timeoutMs?: number | undefined;
  /** The authorities to trust, and the client certificate. */
  readonly tls?: Pick<SecureContextOptions, "ca" | "cert" | "key"> | undefined;
}

/**
 * Creates the transport to an actuator; it connects with the first call. By default it uses Connect over HTTP/1.1, which passes every port,
 * mount and proxy of an actuator, also for streams, because none of them is bidirectional.
 */
export function clientTransport(address: ActuatorAddress, httpVersion: "1.1" | "2" = "1.1"): Transport {
  const { url, socketPath, token, timeoutMs, tls } = address;
  const options = {
    baseUrl: socketPath === undefined ? url : "http://localhost",
    useBinaryFormat: true,
    readMaxBytes: MAX_ANSWER_BYTES,
    interceptors: token === undefined ? [] : [bearer(token)],
    ...(timeoutMs !== undefined && { defaultTimeoutMs: timeoutMs }),
  };
  if (httpVersion === "2") {
    const nodeOptions = socketPath === undefined ? { ...tls } : { createConnection: () => connect(socketPath) };
    return createConnectTransport({ ...options, httpVersion, nodeOptions });
  }
  const nodeOptions = socketPath === undefined ? { ...tls } : { socketPath };
  return createConnectTransport({ ...options, httpVersion, nodeOptions });
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}
