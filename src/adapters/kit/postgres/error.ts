import { ActuatorError, type ErrorCode } from "../../../common/error.ts";
import { CERTIFICATE_ADVICE, certificateFault } from "../certificate-fault.ts";

type Answer = readonly [code: ErrorCode, reason: string, message: string];

const UNAVAILABLE = "SESSION_STORE_UNAVAILABLE";
const REFUSED = "SESSION_STORE_REFUSED";

/**
 * Maps a SQLSTATE or its class: https://www.postgresql.org/docs/current/errcodes-appendix.html. What passes by itself is
 * UNAVAILABLE; what an operator has to change is FAILED_PRECONDITION.
 */
const STATES: Readonly<Record<string, Answer>> = {
  "08": ["UNAVAILABLE", UNAVAILABLE, "The connection to PostgreSQL broke."],
  "53": ["UNAVAILABLE", UNAVAILABLE, "PostgreSQL has no connection, memory or disk left."],
  "57": ["UNAVAILABLE", UNAVAILABLE, "PostgreSQL is starting or stopping, or canceled the statement."],
  "25006": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL refuses to write: this server or user is read-only."],
  "28": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL refuses the connection's user name or password."],
  "3D000": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL has no database with the connection's name."],
  "3F000": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL has no schema with this name."],
  "42501": ["FAILED_PRECONDITION", REFUSED, "The connection's user has no permission in PostgreSQL for this table."],
  "42703": ["FAILED_PRECONDITION", REFUSED, "The table in PostgreSQL lacks a column of the session store."],
  "42P01": ["FAILED_PRECONDITION", REFUSED, "PostgreSQL has no table with this name in the search path."],
};

const OUT_OF_REACH: Answer = ["UNAVAILABLE", UNAVAILABLE, "PostgreSQL could not be reached."];

/**
 * Returns the error of a statement as a caller may see it. The native error, which may name hosts, users and values, is its
 * `cause`. An `ActuatorError` and errors that the table does not have are returned as they are.
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
  return ["UNAVAILABLE", UNAVAILABLE, `The certificate of PostgreSQL was rejected (${fault}). ${CERTIFICATE_ADVICE}`];
}

/** Returns the error for a missing answer. Whether the server executes the statement is unknown. */
export function postgresTimeout(timeoutMs: number): ActuatorError {
  return new ActuatorError("UNAVAILABLE", UNAVAILABLE, `PostgreSQL did not answer within ${timeoutMs} ms.`);
}

/** Returns the SQLSTATE of a server error; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const code: unknown = (error as { code?: unknown } | undefined)?.code;
  // Each has a digit, unlike EPIPE and other codes of Node.js.
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
