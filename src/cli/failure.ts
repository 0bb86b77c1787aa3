import { Code, ConnectError } from "@connectrpc/connect";
import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import { type ErrorInfo, ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import type { ConnectionOptions } from "./connection.ts";
import { CliError, EXIT } from "./error.ts";

type Called = Pick<ConnectionOptions, "url" | "token" | "timeout">;
/** Says what is wrong and what to do. `said` is the message of the server or of Node.js, `service` what the error is about. */
type Explain = (said: string, called: Called, service?: string) => string;

const OTHER_ADDRESS = "give another address with --url or ACTUATOR_URL";

/** Explains a failed call to the person who typed the command. */
export function failureOf(error: ConnectError, called: Called): CliError {
  const said = printable(error.rawMessage);
  const systemCode = isReset(error) ? "ECONNRESET" : (error.cause as NodeJS.ErrnoException | undefined)?.code;
  if (typeof systemCode === "string") {
    const [, explain] = BY_SYSTEM_ERROR.find(([pattern]) => pattern.test(systemCode))!;
    return new CliError(EXIT.unreachable, explain(said, called));
  }
  if (!isFromActuator(error)) return new CliError(EXIT.unreachable, notAnActuator(said, called.url));
  const { reason, metadata } = infoOf(error) ?? {};
  const isRefusal = QUOTED.includes(error.code) && reason !== undefined;
  const [exitCode, explain] =
    BY_REASON.get(reason ?? "") ?? (isRefusal ? REFUSED : (BY_CODE.get(error.code) ?? REFUSED));
  return new CliError(exitCode, explain(said, called, metadata?.service));
}

/** Over HTTP/2, connect-node reports a lost connection as a stream that the server has reset, without a cause. */
function isReset({ rawMessage, cause }: ConnectError): boolean {
  return cause === undefined && rawMessage.startsWith("http/2 stream closed with error code ");
}

/** Returns the reason in the answer of an actuator, such as LOGGER_NOT_FOUND; undefined for answers of other servers. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? infoOf(error)?.reason : undefined;
}

function infoOf(error: ConnectError): ErrorInfo | undefined {
  return error.findDetails(ErrorInfoSchema)[0];
}

/** Waits for what the caller may not be allowed to read; undefined if that is so. */
export async function ifAllowed<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error) => {
    if (reasonOf(error) === "PERMISSION_MISSING") return undefined;
    throw error;
  });
}

const quoted: Explain = (said) => `the server says: ${said}`;

type Failure = readonly [exitCode: 1 | 3, Explain];

const REFUSED: Failure = [EXIT.refused, quoted];

/** Other servers answer with an HTTP status or a content type only. 401 and 403 may come from a proxy before an actuator. */
function isFromActuator(error: ConnectError): boolean {
  if (error.code === Code.Unauthenticated || error.code === Code.PermissionDenied) return true;
  return !/^(|HTTP \d{3}|unsupported content type\b.*|protocol error.*|missing trailer.*)$/.test(error.rawMessage);
}

function notAnActuator(said: string, url: string): string {
  // A port that speaks TLS answers cleartext with 400, as do many servers.
  const tls = said === "HTTP 400" && url.startsWith("http:") ? "if this port uses TLS, write https; otherwise " : "";
  return `the server at ${url} is not an actuator${said && ` (${said})`}: ${tls}${OTHER_ADDRESS}`;
}

/** By the error code of Node.js or OpenSSL; the last row matches every other. */
const BY_SYSTEM_ERROR: readonly (readonly [RegExp, Explain])[] = [
  [
    /^(ECONNREFUSED|ENOENT)$/,
    (_, { url }) =>
      `nothing listens at ${url}: start the application, or ${OTHER_ADDRESS}; connect-actuator ps lists processes`,
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, (_, { url }) => `the host of ${url} was not found: check its name, or ${OTHER_ADDRESS}`],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_/,
    (said, { url }) =>
      `the certificate of ${url} is not trusted (${said}): give its authority with --ca or ACTUATOR_CA`,
  ],
  [
    /^(HPE_|EPROTO|ERR_SSL_)/,
    (_, { url }) => `the server at ${url} does not speak this protocol: check http or https, or ${OTHER_ADDRESS}`,
  ],
  [
    /^(ECONNRESET|EPIPE)$/,
    (_, { url }) => `the connection to ${url} was closed: check that the application runs, or ${OTHER_ADDRESS}`,
  ],
  [/(?:)/, (said, { url }) => `the connection to ${url} failed (${said.trim()}): ${OTHER_ADDRESS}`],
];

/** What an actuator refuses with one of these, and a reason, is told in its own words. */
const QUOTED: readonly Code[] = [Code.PermissionDenied, Code.Unimplemented];

/** By the reason that an actuator gives. Messages that say themselves what to do are quoted. */
const BY_REASON = new Map<string, Failure>([
  ["TOO_MANY_REQUESTS", REFUSED],
  [
    "NOT_SERVED",
    [
      EXIT.refused,
      (_, __, service) =>
        service === "actuator.v3.FleetService"
          ? "this application is in no fleet: set fleet.redis, fleet.postgres, fleet.nats or fleet.serve"
          : "this application does not serve this part of the actuator",
    ],
  ],
  [
    "LIST_ALL_UNSUPPORTED",
    [EXIT.refused, (said) => `the server says: ${said} For one user: connect-actuator sessions list <username>`],
  ],
  // What does not answer is the engine, and not the actuator that was called.
  ["FLEET_ENGINE_UNAVAILABLE", [EXIT.unreachable, (said) => `${said} Instances keep their levels.`]],
  ["OUTCOME_UNKNOWN", [EXIT.unreachable, (said) => said]],
]);

/** By the code, for answers without a known reason. */
const BY_CODE = new Map<Code, Failure>([
  [
    Code.Unimplemented,
    [EXIT.refused, (_, { url }) => `the actuator at ${url} is older than this command and does not support it`],
  ],
  [
    Code.Unauthenticated,
    [
      EXIT.refused,
      (_, { url, token }) =>
        token
          ? `${url} does not accept the token: check that it is complete and has not expired`
          : `${url} requires authentication: give a token with ACTUATOR_TOKEN or --token`,
    ],
  ],
  [
    Code.PermissionDenied,
    [EXIT.refused, (said, { url }) => `${url} refuses the call (${said}): check what a proxy in front of it allows`],
  ],
  [
    Code.DeadlineExceeded,
    [
      EXIT.unreachable,
      (_, { url, timeout }) => `no answer from ${url} within ${durationToText(timeout)}: allow more with --timeout`,
    ],
  ],
  [Code.Unavailable, [EXIT.unreachable, (said, { url }) => `${url} is unavailable (${said}): try again soon`]],
  [Code.Canceled, [EXIT.unreachable, (_, { url }) => `${url} canceled the call: try again`]],
  [Code.Internal, [EXIT.refused, (said, { url }) => `${url} failed (${said}): its log has details`]],
]);
