import type { SecureContextOptions } from "node:tls";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";

/** The most bytes of one answer: far over what an actuator sends, and a bound for what is none. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** How an actuator is reached. */
export interface ActuatorAddress {
  /** With the path that the actuator is mounted under; without a `/` at the end. */
  readonly url: string;
  /** The Unix socket that is called in the place of the URL's host. */
  readonly socketPath?: string | undefined;
  /** Sent as a bearer token. One that no header can carry fails each call, in words of Node that repeat it: check it before. */
  readonly token?: string | undefined;
  /** Milliseconds that a call may take that says nothing else; for ever, where left out. */
  readonly timeoutMs?: number | undefined;
  /** Whom to believe, and who to be. */
  readonly tls?: Pick<SecureContextOptions, "ca" | "cert" | "key"> | undefined;
}

/**
 * Calls an actuator; nothing is connected before the first call. Connect over HTTP/1.1 is spoken, since that alone goes through
 * every port, mount and proxy of an actuator; streams included, as none of them sends both ways.
 */
export function clientTransport({ url, socketPath, token, timeoutMs, tls }: ActuatorAddress): Transport {
  return createConnectTransport({
    baseUrl: socketPath === undefined ? url : "http://localhost",
    httpVersion: "1.1",
    nodeOptions: socketPath === undefined ? { ...tls } : { socketPath },
    useBinaryFormat: true,
    readMaxBytes: MAX_ANSWER_BYTES,
    interceptors: token === undefined ? [] : [bearer(token)],
    ...(timeoutMs !== undefined && { defaultTimeoutMs: timeoutMs }),
  });
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}
