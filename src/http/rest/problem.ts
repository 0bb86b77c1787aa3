import { STATUS_CODES } from "node:http";
import { ActuatorError, type ErrorCode } from "../../common/error.ts";
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

/** What a caller is told of an error. */
export interface Problem {
  readonly status: number;
  /** Written for the caller; empty where the answer has no body. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Whether the operator has to hear of it. */
  readonly reported: boolean;
}

/** Errors of the domain that mean something more exact than their code, by their reason. */
const REASONS: Readonly<Record<string, Mapping>> = {
  // The other use of RESOURCE_EXHAUSTED is a bound that waiting does not lift.
  TOO_MANY_REQUESTS: { status: 429 },
  // The operator knows.
  SHUTTING_DOWN: { status: 503 },
  // The operator has heard of it from what asks callers who they are, and not once more for every stranger.
  AUTHORIZE_FAILED: { status: 503 },
  KEYS_OUT_OF_REACH: { status: 503 },
  KEYS_UNUSABLE: { status: 503 },
};

interface Mapping {
  readonly status: number;
  /** The answer has no body: clients of the original take this 404 for "there is none", and one with a body for a wrong address. */
  readonly empty?: true;
  readonly reported?: true;
}

const MAPPINGS: Readonly<Record<ErrorCode, Mapping>> = {
  INVALID_ARGUMENT: { status: 400 },
  UNAUTHENTICATED: { status: 401 },
  PERMISSION_DENIED: { status: 403 },
  NOT_FOUND: { status: 404, empty: true },
  // No condition of the request, of which a 412 would speak: where the sessions are, something has to be put right first.
  FAILED_PRECONDITION: { status: 503, reported: true },
  UNIMPLEMENTED: { status: 404, empty: true },
  UNAVAILABLE: { status: 503, reported: true },
  RESOURCE_EXHAUSTED: { status: 507 },
};

/** Turns whatever was thrown into what the caller may know of it. */
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
 * The answer that tells a caller of a problem, with the path of the request without its query string.
 *
 * @param challenge the value of `WWW-Authenticate` for those who have to say who they are
 */
export function problemAnswer(problem: Problem, path: string, challenge?: string): Answer {
  const { status, message } = problem;
  const asks = status === 401 && challenge !== undefined;
  const headers = { ...problem.headers, ...(asks && { "WWW-Authenticate": challenge }) };
  if (message === "") return { status, headers };
  const timestamp = new Date().toISOString();
  const json = JSON.stringify({ timestamp, status, error: STATUS_CODES[status], message, path });
  return { status, headers, representation: new Representation(json) };
}
