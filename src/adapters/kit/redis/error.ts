import { ActuatorError, type ErrorCode } from "../../../common/error.ts";
import { CERTIFICATE_ADVICE, certificateFault } from "../certificate-fault.ts";

type Answer = readonly [code: ErrorCode, reason: string, message: string];

const UNAVAILABLE = "SESSION_STORE_UNAVAILABLE";
const REFUSED = "SESSION_STORE_REFUSED";

/**
 * Maps the first word of an error reply: https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors. What
 * passes by itself is UNAVAILABLE; what an operator has to change is FAILED_PRECONDITION.
 */
const REPLIES: Readonly<Record<string, Answer>> = {
  LOADING: ["UNAVAILABLE", UNAVAILABLE, "Redis is still loading its data."],
  BUSY: ["UNAVAILABLE", UNAVAILABLE, "Redis is busy with a script."],
  READONLY: ["UNAVAILABLE", UNAVAILABLE, "Redis refuses to write: it is a replica."],
  MASTERDOWN: ["UNAVAILABLE", UNAVAILABLE, "Redis has lost its primary."],
  CLUSTERDOWN: ["UNAVAILABLE", UNAVAILABLE, "The Redis cluster is down."],
  TRYAGAIN: ["UNAVAILABLE", UNAVAILABLE, "The Redis cluster is moving its keys."],
  NOREPLICAS: ["UNAVAILABLE", UNAVAILABLE, "Redis refuses to write: too few replicas are connected."],
  MISCONF: ["UNAVAILABLE", UNAVAILABLE, "Redis refuses to write: it cannot save its data."],
  OOM: ["UNAVAILABLE", UNAVAILABLE, "Redis refuses to write: its memory is full."],
  NOAUTH: ["FAILED_PRECONDITION", REFUSED, "Redis requires a password, and the connection has none."],
  WRONGPASS: ["FAILED_PRECONDITION", REFUSED, "Redis refuses the connection's user name or password."],
  NOPERM: ["FAILED_PRECONDITION", REFUSED, "The connection's user has no permission in Redis for the command %."],
  WRONGTYPE: [
    "FAILED_PRECONDITION",
    "SESSION_STORE_WRONG_TYPE",
    "The key holds a different type than the command % expects.",
  ],
};

const UNKNOWN_COMMAND: Answer = ["FAILED_PRECONDITION", REFUSED, "Redis does not offer the command % here."];
const OTHER_REPLY: Answer = ["UNAVAILABLE", UNAVAILABLE, "Redis refused the command %."];

/**
 * Returns the error of a command as a caller may see it. The native error, which may name hosts and keys, is its `cause`;
 * an `ActuatorError` is returned as it is.
 */
export function redisError(cause: unknown, command: string): ActuatorError {
  if (cause instanceof ActuatorError) return cause;
  const [code, reason, message] = answerTo(cause) ?? ["UNAVAILABLE", UNAVAILABLE, "Redis could not be reached."];
  return new ActuatorError(code, reason, message.replace("%", command), {}, { cause });
}

/** Returns the error for a missing answer. Whether the server executes the command is unknown, unless it was not sent. */
export function redisTimeout(timeoutMs: number): ActuatorError {
  return new ActuatorError("UNAVAILABLE", UNAVAILABLE, `Redis did not answer within ${timeoutMs} ms.`);
}

function answerTo(cause: unknown): Answer | undefined {
  if (!(cause instanceof Error)) return undefined;
  const fault = certificateFault(cause);
  if (fault !== undefined) {
    return ["UNAVAILABLE", UNAVAILABLE, `The certificate of Redis was rejected (${fault}). ${CERTIFICATE_ADVICE}`];
  }
  const [word] = /^[A-Z]{2,}(?= )/.exec(cause.message) ?? [];
  if (word === undefined) return undefined;
  if (word !== "ERR") return REPLIES[word] ?? (isReply(cause) ? OTHER_REPLY : undefined);
  return /unknown (sub)?command/i.test(cause.message) ? UNKNOWN_COMMAND : OTHER_REPLY;
}

/** node-redis throws a SimpleError or a BlobError, ioredis a ReplyError. */
function isReply(error: Error): boolean {
  return [error.name, error.constructor.name].some((each) => /^(Simple|Blob|Reply)Error$|^ErrorReply$/.test(each));
}
