import { Code, ConnectError } from "@connectrpc/connect";
import { ActuatorError, type ErrorCode } from "../../common/error.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { CallCode } from "../../operations/calls/call-record.ts";

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

/** How an error is recorded in the call log, by gRPC's names. */
export function callCodeOf({ code }: ConnectError): CallCode {
  return CALL_CODES.get(code) ?? "UNKNOWN";
}

const CALL_CODES: ReadonlyMap<Code, CallCode> = new Map<Code, CallCode>([
  ...Object.entries(RPC_CODES).map(([name, code]) => [code, name as ErrorCode] as const),
  [Code.Canceled, "CANCELLED"],
  [Code.DeadlineExceeded, "DEADLINE_EXCEEDED"],
  [Code.Internal, "INTERNAL"],
]);

/** Who defines the reasons in a `google.rpc.ErrorInfo`. */
const ERROR_DOMAIN = "connect-actuator";

/**
 * An error of the domain as RPC answers it, with a `google.rpc.ErrorInfo` that carries its reason and metadata. When to try
 * again stands in the headers too (the trailers of gRPC), as over REST.
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

/**
 * Any error as RPC answers it. What is neither the domain's nor connect's own is an accident: the caller learns no more
 * than that, and `onAccident` is told.
 */
export function anyErrorToRpc(error: unknown, onAccident: (error: unknown) => void): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof ActuatorError) return errorToRpc(error);
  onAccident(error);
  return new ConnectError("internal error", Code.Internal, undefined, undefined, error);
}
