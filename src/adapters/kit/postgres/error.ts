import { ActuatorError, type ErrorCode } from "../../../common/error.ts";
import { CERTIFICATE_ADVICE, certificateFault } from "../certificate-fault.ts";

type Answer = readonly [code: ErrorCode, reason: string, message: string];

const UNAVAILABLE = "SESSION_STORE_UNAVAILABLE";
const REFUSED = "SESSION_STORE_REFUSED";

/**
 * What a SQLSTATE, or its class, means for a caller: https://www.postgresql.org/docs/current/errcodes-appendix.html. What
 * passes by itself is UNAVAILABLE; what somebody has to change is FAILED_PRECONDITION.
 */
const STATES: Readonly<Record<string, Answer>> = {
  "08": ["UNAVAILABLE", UNAVAILABLE, "The connection to PostgreSQL broke."],
  "53": ["UNAVAILABLE", UNAVAILABLE, "PostgreSQL has no connection, memory or disk left."],
  "57": ["UNAVAILABLE", UNAVAILABLE, "PostgreSQL is starting or stopping, or gave the statement up."],
  "25006": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL refuses to write: this server or user may only read."],
  "28": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL refuses the connection's user name or password."],
  "3D000": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL has no database of the connection's name."],
  "3F000": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL has no schema of this name."],
  "42501": ["FAILED_PRECONDITION", REFUSED, "The connection's user has no permission in PostgreSQL for this table."],
  "42703": ["FAILED_PRECONDITION", REFUSED, "The table in PostgreSQL lacks a column of the sessions' store."],
  "42P01": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL has no table of this name, or not where it was looked for."],
};

const OUT_OF_REACH: Answer = ["UNAVAILABLE", UNAVAILABLE, "PostgreSQL could not be reached."];

/**
 * The error of a statement as a caller may see it. The native one, which may name hosts, users and values, is its `cause`.
 * An `ActuatorError` stays itself, and so does a refusal that is not the caller's concern.
 */
export function postgresError(cause: unknown): unknown {
  if (cause instanceof ActuatorError) return cause;
  const state = sqlState(cause);
  const answer = state === undefined ? unreached(cause) : (STATES[state] ?? STATES[state.slice(0, 2)]);
  if (answer === undefined) return cause;
  const [code, reason, message] = answer;
  return new ActuatorError(code, reason, message, {}, { cause });
}

function unreached(cause: unknown): Answer {
  const fault = certificateFault(cause);
  if (fault === undefined) return OUT_OF_REACH;
  return ["UNAVAILABLE", UNAVAILABLE, `The certificate of PostgreSQL is refused (${fault}). ${CERTIFICATE_ADVICE}`];
}

/** No answer came in time. Whether the server carries the statement out is not known. */
export function postgresTimeout(timeout: number): ActuatorError {
  return new ActuatorError("UNAVAILABLE", UNAVAILABLE, `PostgreSQL did not answer within ${timeout} ms.`);
}

/** The SQLSTATE with which the server refused a statement; undefined where the error is not the server's. */
export function sqlState(error: unknown): string | undefined {
  const code: unknown = (error as { code?: unknown } | undefined)?.code;
  // Each has a digit, unlike EPIPE and other codes of Node.
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
