import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";

/** A transport for a process that a test starts with the protocol, the version of HTTP and the address. */
export function transportFor(args: readonly string[]): Transport {
  const [protocol, httpVersion, baseUrl] = args as [string, "2", string];
  const options = { baseUrl, httpVersion };
  const transports: Readonly<Record<string, () => Transport>> = {
    "Connect JSON": () => createConnectTransport({ ...options, useBinaryFormat: false }),
    "Connect binary": () => createConnectTransport({ ...options, useBinaryFormat: true }),
    gRPC: () => createGrpcTransport(options),
    "gRPC-Web": () => createGrpcWebTransport(options),
  };
  return transports[protocol]!();
}
