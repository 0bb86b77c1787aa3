import type { CallProtocol } from "../../operations/calls/call-record.ts";

/** By the content type of a request. Connect's GET has none. */
const PROTOCOLS: readonly (readonly [RegExp, CallProtocol])[] = [
  [/^application\/grpc-web\b/i, "grpc-web"],
  [/^application\/grpc\b/i, "grpc"],
];

/** The protocol that a request to a path of RPC speaks. */
export function protocolOf(contentType = ""): CallProtocol {
  return PROTOCOLS.find(([pattern]) => pattern.test(contentType))?.[1] ?? "connect";
}
