import { ActuatorError, type ErrorCode } from "../../common/error.ts";
import type { CallCode } from "../../operations/calls/call-record.ts";

/** What is wrong with a request, as HTTP and as gRPC number it. */
export class OtlpProblem extends Error {
  override readonly name = "OtlpProblem";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The codes of gRPC that stand for these; 3, INVALID_ARGUMENT, for all others. */
const CODES: { readonly [status: number]: number } = {
  401: 16,
  403: 7,
  408: 4,
  413: 8,
  429: 8,
  499: 1,
  500: 13,
  503: 14,
};
/** The same, as the call log names them. */
const CALL_CODES: { readonly [code: number]: CallCode } = {
  1: "CANCELLED",
  3: "INVALID_ARGUMENT",
  4: "DEADLINE_EXCEEDED",
  7: "PERMISSION_DENIED",
  8: "RESOURCE_EXHAUSTED",
  13: "INTERNAL",
  14: "UNAVAILABLE",
  16: "UNAUTHENTICATED",
};
/** The HTTP statuses for errors of the domain; 400 for all others. */
const STATUSES: { readonly [Name in ErrorCode]?: number } = {
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  UNAVAILABLE: 503,
};

/** The code of gRPC that stands for a status of HTTP. */
export function codeOf(status: number): number {
  return CODES[status] ?? 3;
}

/** How a status is recorded in the call log. */
export function callCodeOf(status: number): CallCode {
  return CALL_CODES[codeOf(status)]!;
}

/**
 * Translates an error for an exporter.
 *
 * @param challenge the value of `WWW-Authenticate` for callers that have to authenticate
 */
export function problemOf(error: unknown, challenge: string | undefined): OtlpProblem {
  if (error instanceof OtlpProblem) return error;
  if (!(error instanceof ActuatorError)) return new OtlpProblem(500, "internal error");
  const status = STATUSES[error.code] ?? 400;
  const { retryAfterSeconds } = error.metadata;
  return new OtlpProblem(status, error.message, {
    ...(retryAfterSeconds !== undefined && { "Retry-After": retryAfterSeconds }),
    ...(status === 401 && challenge !== undefined && { "WWW-Authenticate": challenge }),
  });
}
