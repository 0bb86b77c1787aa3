import { Code, ConnectError } from "@connectrpc/connect";
import { durationToText } from "../common/duration.ts";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { CliError } from "./cli-error.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { GlobalOptions } from "./global-options.ts";
import { printable } from "./printable.ts";

type Called = Pick<GlobalOptions, "url" | "token" | "timeout">;
type Explanation = readonly [ExitCode, (said: string, called: Called) => string];

/** A call that failed, as whoever typed the command needs to hear it. */
export function failureOf(error: ConnectError, called: Called): CliError {
  const said = printable(error.rawMessage);
  const [exitCode, explain] = explanationOf(error);
  return new CliError(exitCode, explain(said, called));
}

/** The stable reason in an answer of an actuator, such as LOGGER_NOT_FOUND; undefined where something else answered. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0]?.reason : undefined;
}

function explanationOf(error: ConnectError): Explanation {
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  if (typeof code === "string") return BY_SYSTEM_ERROR.find(([pattern]) => pattern.test(code))![1];
  // What is no actuator's answer has only an HTTP status or a content type to tell; 401 and 403 come from proxies, too.
  const foreign = /^(|HTTP \d{3}|unsupported content type\b.*|protocol error.*|missing trailer.*)$/.test(
    error.rawMessage,
  );
  if (foreign && error.code !== Code.Unauthenticated && error.code !== Code.PermissionDenied) return NO_ACTUATOR;
  return BY_REASON.get(reasonOf(error) ?? "") ?? BY_CODE.get(error.code) ?? [EXIT.refused, asSaid];
}

const asSaid = (said: string): string => `the server says: ${said}`;
const elsewhere = "--url or ACTUATOR_URL names another address";

const NO_ACTUATOR: Explanation = [
  EXIT.unreachable,
  (said, { url }) =>
    `what answers at ${url} is no actuator${said && ` (${said})`}: ${encrypted(said, url)}${elsewhere}`,
];

/** A port that speaks TLS answers cleartext with 400, as do many servers. */
function encrypted(said: string, url: string): string {
  return said === "HTTP 400" && url.startsWith("http:") ? "if that port speaks TLS, say https; " : "";
}

/** By the code of the error of Node.js or OpenSSL; the last row takes what no other does. */
const BY_SYSTEM_ERROR: readonly (readonly [RegExp, Explanation])[] = [
  [
    /^ECONNREFUSED$/,
    [EXIT.unreachable, (_, { url }) => `nothing listens at ${url}: start the application; ${elsewhere}`],
  ],
  [
    /^(ENOTFOUND|EAI_AGAIN)$/,
    [EXIT.unreachable, (_, { url }) => `the host of ${url} has no address here: is its name right? ${elsewhere}`],
  ],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_/,
    [
      EXIT.unreachable,
      (said, { url }) =>
        `the certificate of ${url} is not trusted (${said}): --ca or ACTUATOR_CA names the authority that signed it`,
    ],
  ],
  [
    /^(HPE_|EPROTO|ERR_SSL_)/,
    [
      EXIT.unreachable,
      (_, { url }) => `what answers at ${url} does not speak this protocol: http or https? ${elsewhere}`,
    ],
  ],
  [
    /^(ECONNRESET|EPIPE)$/,
    [
      EXIT.unreachable,
      (_, { url }) => `the connection to ${url} was cut off: has the application ended? Otherwise ${elsewhere}`,
    ],
  ],
  [/(?:)/, [EXIT.unreachable, (said, { url }) => `the connection to ${url} failed (${said.trim()}): ${elsewhere}`]],
];

/** Reasons why an actuator does not allow something: its own words say what would help. */
const REFUSALS = [
  "PERMISSION_MISSING",
  "LOGGER_OUT_OF_REACH",
  "READ_ONLY",
  "NOT_LOCAL",
  "HOST_NOT_ALLOWED",
  "TOO_MANY_REQUESTS",
];

/** By the reason that an actuator gives. */
const BY_REASON = new Map<string, Explanation>([
  ...REFUSALS.map((reason): [string, Explanation] => [reason, [EXIT.refused, asSaid]]),
  ["NOT_SERVED", [EXIT.refused, () => "this application does not serve that part of the actuator"]],
  [
    "LIST_ALL_UNSUPPORTED",
    [EXIT.refused, (said) => `the server says: ${said} Of one user: connect-actuator sessions list <username>`],
  ],
]);

/** By the code, for answers whose reason says no more. */
const BY_CODE = new Map<Code, Explanation>([
  [
    Code.Unimplemented,
    [EXIT.refused, (_, { url }) => `the actuator at ${url} is older than this command and cannot do that`],
  ],
  [
    Code.Unauthenticated,
    [
      EXIT.refused,
      (_, { url, token }) =>
        token
          ? `${url} does not accept the token: is it complete, and not expired?`
          : `${url} asks who you are: give a token with ACTUATOR_TOKEN or --token`,
    ],
  ],
  [Code.PermissionDenied, [EXIT.refused, (_, { url }) => `${url} knows you and does not allow this`]],
  [
    Code.DeadlineExceeded,
    [
      EXIT.unreachable,
      (_, { url, timeout }) => `no answer from ${url} within ${durationToText(timeout)}: --timeout allows more`,
    ],
  ],
  [Code.Unavailable, [EXIT.unreachable, (said, { url }) => `${url} cannot answer now (${said}): try again soon`]],
  [Code.Canceled, [EXIT.unreachable, (_, { url }) => `${url} broke off its answer: try again`]],
  [Code.Internal, [EXIT.refused, (said, { url }) => `${url} failed (${said}): its log says more`]],
]);
