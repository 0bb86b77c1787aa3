import { ActuatorError, type ErrorCode } from "../../common/error.ts";
import { nodeHttp } from "../../common/node-http.ts";
import type { CallCode } from "../../operations/calls/call-record.ts";
import type { Answer } from "./operation.ts";
import { Representation } from "./representation.ts";

/** A request that the gateway itself refuses, before or instead of an operation. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | undefined;

  /** Without a message the answer has no body. */
  constructor(status: number, message = "", headers?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** What a caller learns of an error. */
export interface Problem {
  readonly status: number;
  /** Written for the caller; empty if the answer has no body. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Whether the error is reported to the operator. */
  readonly reported: boolean;
}

interface Mapping {
  readonly status: number;
  /** No body: clients of the original take this 404 for "does not exist", and one with a body for a wrong address. */
  readonly empty?: true;
  readonly reported?: true;
}

const MAPPINGS: Readonly<Record<ErrorCode, Mapping>> = {
  INVALID_ARGUMENT: { status: 400 },
  UNAUTHENTICATED: { status: 401 },
  PERMISSION_DENIED: { status: 403 },
  NOT_FOUND: { status: 404, empty: true },
  // Not 412, which is about conditions of the request: the operator has to repair something where the sessions are.
  FAILED_PRECONDITION: { status: 503, reported: true },
  UNIMPLEMENTED: { status: 404, empty: true },
  UNAVAILABLE: { status: 503, reported: true },
  RESOURCE_EXHAUSTED: { status: 507 },
};

/** Errors that need another status than their code, by their reason. */
const REASONS: Readonly<Record<string, Mapping>> = {
  // Other errors of RESOURCE_EXHAUSTED are limits that waiting does not lift.
  TOO_MANY_REQUESTS: { status: 429 },
  // The operator knows.
  SHUTTING_DOWN: { status: 503 },
  // Access has reported the cause once, and must not report it again for every anonymous request.
  AUTHORIZE_FAILED: { status: 503 },
  KEYS_OUT_OF_REACH: { status: 503 },
  KEYS_UNUSABLE: { status: 503 },
};

/** Turns any thrown value into what the caller may know of it. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Refusal) {
    return { status: error.status, message: error.message, headers: error.headers, reported: false };
  }
  if (error instanceof ActuatorError) {
    const { status, empty = false, reported = false } = REASONS[error.reason] ?? MAPPINGS[error.code];
    const { retryAfterSeconds } = error.metadata;
    const headers = retryAfterSeconds === undefined ? undefined : { "Retry-After": retryAfterSeconds };
    return { status, message: empty ? "" : error.message, headers, reported };
  }
  return { status: 500, message: "The request failed for an internal reason.", headers: undefined, reported: true };
}

/**
 * Makes the answer for a problem, with the path of the request but not its query.
 *
 * @param challenge the value of `WWW-Authenticate` for 401
 */
export function problemAnswer(problem: Problem, path: string, challenge?: string): Answer {
  const { status, message } = problem;
  const isChallenged = status === 401 && challenge !== undefined;
  const headers = { ...problem.headers, ...(isChallenged && { "WWW-Authenticate": challenge }) };
  if (message === "") return { status, headers };
  const timestamp = new Date().toISOString();
  const json = JSON.stringify({ timestamp, status, error: nodeHttp().STATUS_CODES[status], message, path });
  return { status, headers, representation: new Representation(json) };
}

/** Statuses whose code is more specific than that of their class. */
const CALL_CODES: Readonly<Record<number, CallCode>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  507: "RESOURCE_EXHAUSTED",
};

/** The code of a status in the call log, which has the codes of gRPC. */
export function callCodeOf(status: number): CallCode {
  if (status < 400) return "OK";
  return CALL_CODES[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
}
