import { readFileSync } from "node:fs";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";

/** Every call but a watch has a deadline: without one, a call to a server that hangs waits for ever. */
const PATIENCE_MS = 30_000;

const TRANSPORTS = { connect: createConnectTransport, grpc: createGrpcTransport, grpcweb: createGrpcWebTransport };

/**
 * A transport to ACTUATOR_ADDRESS, over TLS where ACTUATOR_CA names a file with the certificates to trust, with ACTUATOR_TOKEN
 * on every call, in the protocol that ACTUATOR_PROTOCOL names: connect, grpc or grpcweb. It connects at the first call.
 */
export function connect(env = process.env): Transport {
  const { ACTUATOR_ADDRESS = "127.0.0.1:9001", ACTUATOR_CA, ACTUATOR_TOKEN, ACTUATOR_PROTOCOL = "connect" } = env;
  const create = TRANSPORTS[ACTUATOR_PROTOCOL as keyof typeof TRANSPORTS];
  if (create === undefined) throw new Error(`ACTUATOR_PROTOCOL is one of ${Object.keys(TRANSPORTS).join(", ")}`);
  return create({
    baseUrl: `${ACTUATOR_CA ? "https" : "http"}://${ACTUATOR_ADDRESS}`,
    httpVersion: "2",
    ...(ACTUATOR_CA && { nodeOptions: { ca: readFileSync(ACTUATOR_CA) } }),
    interceptors: ACTUATOR_TOKEN ? [bearer(ACTUATOR_TOKEN)] : [],
    defaultTimeoutMs: PATIENCE_MS,
    // A connection that is silently gone is noticed after half a minute.
    pingIntervalMs: 20_000,
    pingTimeoutMs: 10_000,
  });
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("Authorization", `Bearer ${token}`);
    return next(request);
  };
}
