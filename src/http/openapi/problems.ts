import { header, usualHeaders } from "./headers.ts";
import { ACTUATOR_TYPES } from "./media-types.ts";
import type { Content, Header, Reference, Response, Schema } from "./model.ts";

/** The body of every error. */
export const PROBLEM: Schema = {
  description: "What went wrong, in words for the caller.",
  type: "object",
  properties: {
    timestamp: { $ref: "#/components/schemas/Timestamp" },
    status: { description: "The status of the answer.", type: "integer", minimum: 400, maximum: 599 },
    error: { description: "What HTTP calls the status.", type: "string" },
    message: { description: "What was wrong, and what would be right.", type: "string", minLength: 1 },
    path: { description: "The path that was asked for, without its query.", type: "string", pattern: "^/" },
  },
  required: ["timestamp", "status", "error", "message", "path"],
  additionalProperties: false,
};

interface Cause {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  /** One thing that callers are told. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly types?: readonly string[];
}

const CAUSES = {
  BadRequest: {
    status: 400,
    error: "Bad Request",
    description:
      "Something in the request is not as this document says; nothing was changed. Where not even the target or the host is one of HTTP, there is no body.",
    message: "configuredLevel must be one of OFF, FATAL, ERROR, WARN, INFO, DEBUG, TRACE, or null to inherit.",
  },
  Unauthorized: {
    status: 401,
    error: "Unauthorized",
    description: "Callers have to say who they are.",
    message: "The caller has to say who they are.",
    headers: { "WWW-Authenticate": header("WWWAuthenticate") },
  },
  Forbidden: {
    status: 403,
    error: "Forbidden",
    description:
      "The caller lacks the permission, names a host that is not this server's, comes from another machine where nobody is asked who they are, or is a page of another site.",
    message: "This needs the permission loggers:write, which the caller does not have.",
  },
  NotFound: {
    status: 404,
    error: "Not Found",
    description: "Nothing is served at this path, whatever the method.",
    message: "Nothing is served at this path.",
  },
  MethodNotAllowed: {
    status: 405,
    error: "Method Not Allowed",
    description: "The path does not have the method: in read-only mode, none that changes something.",
    message: "This path answers to GET, HEAD, OPTIONS.",
    headers: {
      Allow: { description: "The methods of this path.", required: true, schema: { type: "string", minLength: 1 } },
    },
  },
  NotAcceptable: {
    status: 406,
    error: "Not Acceptable",
    description: "The Accept header names no type that can be answered, or cannot be parsed.",
    message: `The answer can be one of the types ${ACTUATOR_TYPES.join(", ")}.`,
    headers: { Accept: header("Accept") },
    types: ["application/json"],
  },
  NotAcceptableAsText: {
    status: 406,
    error: "Not Acceptable",
    description: "The Accept header names no type of text that can be answered, or cannot be parsed.",
    message: "The answer can be one of the types text/plain; version=0.0.4; charset=utf-8.",
    headers: { Accept: header("Accept") },
  },
  RequestTimeout: {
    status: 408,
    error: "Request Timeout",
    description: "The body did not arrive within ten seconds; nothing was changed.",
    message: "The body did not arrive in time.",
  },
  ContentTooLarge: {
    status: 413,
    error: "Payload Too Large",
    description: "The body is over 64 KiB; nothing was changed.",
    message: "The body is longer than 65536 bytes.",
  },
  UnsupportedMediaType: {
    status: 415,
    error: "Unsupported Media Type",
    description:
      "The body has another type, none, another charset than UTF-8 or a content coding; nothing was changed.",
    message: `The body must be one of the types ${ACTUATOR_TYPES.join(", ")}, in UTF-8.`,
    headers: { Accept: header("Accept"), "Accept-Encoding": header("AcceptEncoding") },
  },
  TooManyRequests: {
    status: 429,
    error: "Too Many Requests",
    description: "The caller failed to say who they are, or changed something, too often within a minute.",
    message: "Too many attempts. Try again later.",
    headers: { "Retry-After": header("RetryAfter") },
  },
  InternalServerError: {
    status: 500,
    error: "Internal Server Error",
    description: "Something failed inside. What it was is told to the operator, not to the caller.",
    message: "The request failed for an internal reason.",
  },
  NotImplemented: {
    status: 501,
    error: "Not Implemented",
    description: "The store does not let sessions be ended from outside; the message says why.",
    message: "The sessions live in the clients' cookies.",
  },
  ServiceUnavailable: {
    status: 503,
    error: "Service Unavailable",
    description: "Something that the answer needs is out of reach or refuses, such as the session store.",
    message: "The session store does not answer.",
  },
  InsufficientStorage: {
    status: 507,
    error: "Insufficient Storage",
    description: "There are as many loggers made from outside as there may be; nothing was changed.",
    message: "There are 10000 loggers already that exist only because somebody set their level.",
  },
} as const satisfies Readonly<Record<string, Cause>>;

/** An error that an answer can tell of. */
export type Problem = keyof typeof CAUSES;

/** What can be wrong with a body that is read. */
export const BODY_PROBLEMS = ["RequestTimeout", "ContentTooLarge", "UnsupportedMediaType"] as const;

/** The answers that tell of errors, as components. */
export const PROBLEM_RESPONSES: Readonly<Record<string, Response>> = Object.fromEntries(
  Object.entries<Cause>(CAUSES).map(([name, cause]) => [name, response(cause)]),
);

/** Refers to the answers that tell of these errors, by status. */
export function problems(...names: readonly Problem[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(names.map((name) => [CAUSES[name].status, { $ref: `#/components/responses/${name}` }]));
}

function response({ status, error, description, message, headers, types = ACTUATOR_TYPES }: Cause): Response {
  const schema: Schema = {
    $ref: "#/components/schemas/Problem",
    type: "object",
    properties: { status: { const: status }, error: { const: error } },
  };
  const timestamp = "2026-11-21T06:14:04.950Z";
  const example = { timestamp, status, error, message, path: "/actuator/loggers/com.example" };
  const content: Content = Object.fromEntries(types.map((type) => [type, { schema, example }]));
  return {
    description,
    headers: { ...usualHeaders("CacheControl"), ...headers },
    content,
  };
}
