import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ActuatorError, type ErrorCode } from "../../../common/error.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import type { CallCode } from "../../../operations/calls/call-record.ts";

/** The RPC code of each code of the domain. */
export const RPC_CODES: Readonly<Record<ErrorCode, Code>> = {
  INVALID_ARGUMENT: Code.InvalidArgument,
  UNAUTHENTICATED: Code.Unauthenticated,
  PERMISSION_DENIED: Code.PermissionDenied,
  NOT_FOUND: Code.NotFound,
  FAILED_PRECONDITION: Code.FailedPrecondition,
  RESOURCE_EXHAUSTED: Code.ResourceExhausted,
  UNIMPLEMENTED: Code.Unimplemented,
  UNAVAILABLE: Code.Unavailable,
};

/** The code of an error in the call log, by its gRPC name. */
export function callCodeOf({ code }: ConnectError): CallCode {
  return CALL_CODES.get(code) ?? "UNKNOWN";
}

const CALL_CODES: ReadonlyMap<Code, CallCode> = new Map<Code, CallCode>([
  ...Object.entries(RPC_CODES).map(([name, code]) => [code, name as ErrorCode] as const),
  [Code.Canceled, "CANCELLED"],
  [Code.DeadlineExceeded, "DEADLINE_EXCEEDED"],
  [Code.Internal, "INTERNAL"],
]);

/** The domain of the reasons in a `google.rpc.ErrorInfo`. */
const ERROR_DOMAIN = "connect-actuator";

/**
 * Converts an error of the domain, with a `google.rpc.ErrorInfo` that has its reason and metadata. The time to wait is also in the header
 * `retry-after` (a trailer in gRPC), as over REST.
 */
export function errorToRpc(error: ActuatorError): ConnectError {
  const { retryAfterSeconds } = error.metadata;
  const info = { reason: error.reason, domain: ERROR_DOMAIN, metadata: { ...error.metadata } };
  return new ConnectError(
    error.message,
    RPC_CODES[error.code],
    retryAfterSeconds === undefined ? undefined : { "retry-after": retryAfterSeconds },
    [{ desc: ErrorInfoSchema, value: info }],
    error,
  );
}

/** The error for a service of a domain that the application does not have. */
export function notServed({ typeName: service }: DescService): ActuatorError {
  const message = "This application does not serve this part of the actuator.";
  return new ActuatorError("UNIMPLEMENTED", "NOT_SERVED", message, { service });
}

/** How connect begins the message of an error for a message that it cannot decode. */
const UNDECODABLE = /^parse binary: /;

/**
 * Turns an error for a message that cannot be decoded into INVALID_ARGUMENT. connect answers INTERNAL, though the caller is at fault, and
 * has no option for it; it writes the answer from this very object. A compressed message without an encoding stays INTERNAL, as the
 * gRPC protocol demands.
 */
export function blameUndecodable(error: unknown): void {
  if (!(error instanceof ConnectError) || error.code !== Code.Internal || !UNDECODABLE.test(error.rawMessage)) return;
  (error as { code: Code }).code = Code.InvalidArgument;
}

/** Headers that HTTP/2 forbids: a store that calls another server may pass on its error, which has the headers of that answer. */
const CONNECTION_HEADERS = [
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
];

/** Converts any error. An error of neither the domain nor connect is unexpected: it goes to `onUnexpected`, and the caller learns nothing of it. */
export function anyErrorToRpc(error: unknown, onUnexpected: (error: unknown) => void): ConnectError {
  blameUndecodable(error);
  if (error instanceof ConnectError) {
    for (const name of CONNECTION_HEADERS) error.metadata.delete(name);
    return error;
  }
  if (error instanceof ActuatorError) return errorToRpc(error);
  onUnexpected(error);
  return new ConnectError("internal error", Code.Internal, undefined, undefined, error);
}
