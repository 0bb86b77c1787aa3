import { isLoopback } from "../common/ip-address.ts";
import {
  type Check,
  type Checks,
  callable,
  codeOnly,
  faultOf,
  faultsWithin,
  flag,
  listOf,
  objectOf,
  option,
  positive,
  positiveMs,
  refuseFaults,
  shaped,
  someOf,
  text,
  textOrTexts,
  wordOr,
} from "../common/options.ts";
import { isRecord } from "../common/record.ts";
import type { AuthRequest } from "./auth-request.ts";
import { type PermissionPattern, permissionPattern } from "./permission.ts";
import { callerName, loggerPrefix } from "./token-file.ts";

/** The permissions of a caller, however it authenticated. */
export interface Grant {
  /** Single permissions, all of a subject (`loggers:*`), or all but `logs:read` and `fleet:join` (`*`). */
  readonly permissions: readonly PermissionPattern[];
  /** The caller may see and change only loggers at and below these. Default: all. */
  readonly loggers?: readonly string[] | undefined;
}

/** A caller that a function of the application authenticated. */
export interface CallerDescription extends Grant {
  /** The caller's name in the history of levels and in the audit log: 1 to 128 printable characters. */
  readonly name: string;
}

/**
 * Authenticates a caller. If it returns undefined, the caller is refused; if it throws or takes more than ten seconds, the
 * caller is refused and `onError` is called. It must compare secrets in constant time.
 */
export type Authorize = (
  request: AuthRequest,
) => CallerDescription | undefined | Promise<CallerDescription | undefined>;

/** Gives permissions to callers with a client certificate that TLS has verified and that has all names of the rule. */
export interface CertificateRule extends Grant {
  /** The common name of the subject. */
  readonly commonName?: string | undefined;
  /** One of the alternative names, with its kind: `DNS:orders.internal`, `URI:spiffe://example.org/orders`. */
  readonly alternativeName?: string | undefined;
  /** SHA-256 of the certificate in hexadecimal digits, with or without colons. */
  readonly fingerprint256?: string | undefined;
  /** The caller's name in the history and in the audit log. Default: the first of the three above that the rule has. */
  readonly name?: string | undefined;
}

/** JSON Web Tokens (RFC 7519) of an identity provider. */
export interface JwtOptions {
  /**
   * The public keys of the identity provider: the path of a file, or an `https:` address (`http:` on this machine only).
   */
  readonly jwks: string;
  /** The accepted `iss`, or several. */
  readonly issuer: string | readonly string[];
  /** The accepted `aud`, or several. */
  readonly audience: string | readonly string[];
  /** The accepted `alg`; all are asymmetric. Default: RS, PS and ES with 256, 384 and 512 bits, EdDSA, Ed25519. */
  readonly algorithms?: readonly string[] | undefined;
  /** The `typ` that the header must have, such as `at+jwt` (RFC 9068). Default: any. */
  readonly type?: string | undefined;
  /**
   * How far the clocks of the identity provider and of this machine may differ, in milliseconds. Default 30,000; at most
   * 300,000.
   */
  readonly clockToleranceMs?: number | undefined;
  /** The path of a file of revoked JWTs. Read again whenever it changes. */
  readonly revoked?: string | undefined;
  /** The claims that hold the name, the permissions and the loggers of a caller. */
  readonly claims?: JwtClaims | undefined;
  /**
   * The permissions that each value in the permissions claim stands for, such as `{ "oncall": ["loggers:*"] }`. Default: the
   * values are permissions.
   */
  readonly grants?: Readonly<Record<string, readonly PermissionPattern[]>> | undefined;
}

/** Claims of a JWT: each is the name of a claim, or the path to one, such as `["realm_access", "roles"]`. */
export interface JwtClaims {
  /** The claim with the caller's name. Default `sub`. */
  readonly name?: string | readonly string[] | undefined;
  /**
   * The claim with the caller's permissions: a list, or words separated by spaces. Default `permissions`, or `scope` in a JWT without
   * that claim.
   */
  readonly permissions?: string | readonly string[] | undefined;
  /** The claim with a list of loggers: only these and those below them are seen and changed. Default: none; all are. */
  readonly loggers?: string | readonly string[] | undefined;
}

/** Rate limits of failed authentications and of writes. */
export interface AccessLimits {
  /**
   * The most wrong credentials per minute from one address (IPv6: one /64; sixteen times as many from one /48). Beyond it,
   * callers from that address get 429, but a valid token, JWT or certificate is still accepted. Default 30.
   */
  readonly maxFailuresPerMinute?: number | undefined;
  /**
   * The most writes per minute of one caller, for each permission. All of them may come at once, for example if Spring Boot
   * Admin deletes every session of a user. The limit of `graph:write` is ten times as high, since spans come in many small
   * batches. Default 300; no limit if callers need not authenticate.
   */
  readonly maxWritesPerMinute?: number | undefined;
}

/**
 * Authentication and permissions. Mechanisms can be combined: the form of the credentials determines which one decides, and no
 * other accepts what it refuses. Without any mechanism, callers need not authenticate.
 */
export interface AccessOptions {
  /** The path of a file of tokens, as `connect-actuator token create` writes it. Read again whenever it changes. */
  readonly tokens?: string | undefined;
  /** JSON Web Tokens of an identity provider. */
  readonly jwt?: JwtOptions | undefined;
  /**
   * Rules for client certificates; the first one that matches applies. Only for a server whose TLS requests client
   * certificates.
   */
  readonly certificates?: readonly CertificateRule[] | undefined;
  /** Called for credentials that belong to no other configured mechanism, and for callers without credentials. */
  readonly authorize?: Authorize | undefined;
  /**
   * How often `authorize` is called again, with the same request, while a caller that it accepted has a watch or a held level,
   * in milliseconds. If it returns something else, these end; if it fails, they end after five times as long. Default 60,000.
   */
  readonly reauthorizeIntervalMs?: number | undefined;
  /**
   * The permissions of callers without credentials. Default: none; or `*`, if no mechanism is configured. Cannot be combined
   * with `authorize`, which decides about such callers itself.
   */
  readonly anonymous?: readonly PermissionPattern[] | undefined;
  /**
   * Whether tokens are also accepted as the password of Basic authentication, the only kind that Spring Boot Admin supports.
   * Default true.
   */
  readonly basic?: boolean | undefined;
  /** Rate limits of failed authentications and of writes. */
  readonly limits?: AccessLimits | undefined;
}

/**
 * How callers authenticate. `"loopback"`: they need not, and direct requests from this machine are accepted, also by a handler that is
 * mounted in a server of the application. Every program on this machine can then call, and so can every client of a proxy on this machine
 * that adds no forwarding header, such as a bare `proxy_pass` of nginx.
 */
export type AccessOption = AccessOptions | "loopback";

/** What is configured besides trust in this machine. */
export function mechanismsOf(access: AccessOption | undefined): AccessOptions {
  return access === undefined || access === "loopback" ? {} : access;
}

/** Whether callers must authenticate. */
export function requiresCredentials({ tokens, jwt, certificates, authorize }: AccessOptions): boolean {
  return (tokens ?? jwt ?? certificates ?? authorize) !== undefined;
}

/** The algorithms that can be accepted. A verifier of a symmetric signature could also forge it, and `none` is no signature. */
export const JWT_ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
] as const;

const permissions = listOf(permissionPattern);
const loggers = someOf(loggerPrefix);

const jwks = shaped(
  { kind: "text" },
  (value) => {
    if (typeof value !== "string" || !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return text(value);
    const url = URL.parse(value);
    if (url === null || url.username !== "" || url.password !== "")
      return "must be an address without user and password";
    if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return undefined;
    return "must be a path or an https: address, as changed keys could sign anything";
  },
  { path: "read" },
);

const CLAIMS: Checks<JwtClaims> = {
  name: option(textOrTexts, { default: ["sub"] }),
  permissions: textOrTexts,
  loggers: textOrTexts,
};

const JWT: Checks<JwtOptions> = {
  jwks,
  issuer: textOrTexts,
  audience: textOrTexts,
  algorithms: someOf(
    shaped({ kind: "text" }, (value) =>
      (JWT_ALGORITHMS as readonly unknown[]).includes(value)
        ? undefined
        : `must be one of ${JWT_ALGORITHMS.join(", ")}`,
    ),
  ),
  type: text,
  clockToleranceMs: shaped(
    { kind: "milliseconds" },
    (value) =>
      typeof value === "number" && value >= 0 && value <= 300_000
        ? undefined
        : "must be a number of milliseconds from 0 to 300000",
    { default: 30_000 },
  ),
  revoked: option(text, { path: "read" }),
  claims: objectOf(CLAIMS),
  grants: shaped({ kind: "lists" }, (value) => {
    if (!isRecord(value)) return "must be an object of lists";
    const faults = Object.entries(value).map(([role, patterns]) => [role, permissions(patterns)] as const);
    const [role, fault] = faults.find(([, fault]) => fault !== undefined) ?? [];
    return fault && faultOf(`of "${role}"`, fault);
  }),
};

const CERTIFICATE: Checks<CertificateRule> = {
  commonName: text,
  alternativeName: (value) =>
    typeof value === "string" && /^[A-Za-z ]+:./.test(value)
      ? undefined
      : "must be a name with its kind, such as DNS:orders.internal",
  fingerprint256: (value) =>
    typeof value === "string" && /^([0-9a-f]{64}|[0-9a-f]{2}(:[0-9a-f]{2}){31})$/i.test(value)
      ? undefined
      : "must be 64 hexadecimal digits, with or without colons",
  name: callerName,
  permissions,
  loggers,
};

const certificate = objectOf(CERTIFICATE, ({ permissions, commonName, alternativeName, fingerprint256 }) => {
  if (permissions === undefined) return "must have permissions";
  return (commonName ?? alternativeName ?? fingerprint256) === undefined
    ? "must name a commonName, alternativeName or fingerprint256; without one it would match every certificate"
    : undefined;
});

const LIMITS: Checks<AccessLimits> = {
  maxFailuresPerMinute: option(positive, { default: 30 }),
  maxWritesPerMinute: option(positive, { default: 300 }),
};

/** The checks of {@link AccessOptions}. */
export const ACCESS: Checks<AccessOptions> = {
  tokens: option(text, { path: "read" }),
  jwt: objectOf(JWT, (jwt) => {
    const missing = (["jwks", "issuer", "audience"] as const).filter((name) => jwt[name] === undefined);
    return missing.length === 0 ? undefined : `must have ${missing.join(", ")}`;
  }),
  certificates: someOf(certificate),
  authorize: callable,
  reauthorizeIntervalMs: codeOnly(positiveMs),
  anonymous: permissions,
  basic: option(flag, { default: true }),
  limits: objectOf(LIMITS),
};

/** The check of {@link AccessOptions} as a whole. */
export const accessOptions: Check = objectOf(ACCESS, ({ authorize, anonymous, reauthorizeIntervalMs }) => {
  if (authorize !== undefined && anonymous !== undefined) {
    return ".anonymous cannot be combined with authorize, which decides about anonymous callers itself";
  }
  return authorize === undefined && reauthorizeIntervalMs !== undefined
    ? ".reauthorizeIntervalMs has no effect without authorize, the function that it calls again; add authorize or leave it out"
    : undefined;
});

/** The check of {@link AccessOption}. */
export const accessOption: Check = wordOr("loopback", accessOptions);

/**
 * Checks options with all that is inside of them.
 *
 * @throws ActuatorError INVALID_ARGUMENT that names the option and, for one that does not exist, the likely right one
 */
export function checkAccessOptions(where: string, options: AccessOptions): void {
  refuseFaults(faultsWithin(where, options, accessOptions));
}

/** What a function of the application returns for a caller that it accepts. */
export const DESCRIPTION: Checks<CallerDescription> = { name: callerName, permissions, loggers };
