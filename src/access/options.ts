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
} from "../common/options.ts";
import { isRecord } from "../common/record.ts";
import type { AuthRequest } from "./auth-request.ts";
import { type PermissionPattern, permissionPattern } from "./permission.ts";
import { callerName, loggerPrefix } from "./token-file.ts";

/** The permissions of a caller, however it authenticated. */
export interface Grant {
  /** Single permissions, all of a subject (`loggers:*`), or all (`*`). */
  readonly permissions: readonly PermissionPattern[];
  /** Loggers at and below which levels may be changed. Left out: everywhere. */
  readonly loggers?: readonly string[] | undefined;
}

/** A caller that a function of the application authenticated. */
export interface CallerDescription extends Grant {
  /** What the history of levels and the audit call them: 1 to 128 printable characters. */
  readonly name: string;
}

/**
 * Decides who calls. Undefined refuses; so does whatever is thrown, which is reported as well. It has ten seconds, and must
 * compare secrets in constant time by itself.
 */
export type Authorize = (
  request: AuthRequest,
) => CallerDescription | undefined | Promise<CallerDescription | undefined>;

/** Lets in who shows a client certificate that TLS has verified, where all that is named here is the certificate's. */
export interface CertificateRule extends Grant {
  /** The common name of the subject. */
  readonly commonName?: string | undefined;
  /** One of the alternative names, with its kind: `DNS:orders.internal`, `URI:spiffe://example.org/orders`. */
  readonly alternativeName?: string | undefined;
  /** SHA-256 of the certificate in hexadecimal digits, with or without colons. */
  readonly fingerprint256?: string | undefined;
  /** What the history and the audit call them. Default: the first of the three above that the rule names. */
  readonly name?: string | undefined;
}

/** JSON Web Tokens (RFC 7519), as an identity provider signs them. */
export interface JwtOptions {
  /** The keys that sign: the path of a file, or an `https:` address (`http:` on this machine only). */
  readonly jwks: string;
  /** The `iss` that is believed, or several. */
  readonly issuer: string | readonly string[];
  /** The `aud` that means this application, or several. */
  readonly audience: string | readonly string[];
  /** The `alg` that are let in; all are asymmetric. Default: RS, PS and ES with 256, 384 and 512 bits, EdDSA, Ed25519. */
  readonly algorithms?: readonly string[] | undefined;
  /** The `typ` that the header must have, such as `at+jwt` (RFC 9068). Default: any. */
  readonly type?: string | undefined;
  /** How far the clocks of both sides may be apart, in milliseconds. Default 30,000; at most 300,000. */
  readonly clockToleranceMs?: number | undefined;
  /** The path of a file of revoked JWTs. Read again whenever it changes. */
  readonly revoked?: string | undefined;
  /** The claims that hold the name, the permissions and the loggers of a caller. */
  readonly claims?: JwtClaims | undefined;
  /** What values in the claim of permissions stand for, such as `{ "oncall": ["loggers:*"] }`. Default: permissions stand for themselves. */
  readonly grants?: Readonly<Record<string, readonly PermissionPattern[]>> | undefined;
}

/** Where a JWT says what: the name of a claim, or the keys on the way to it, such as `["realm_access", "roles"]`. */
export interface JwtClaims {
  /** Who it is. Default `sub`. */
  readonly name?: string | readonly string[] | undefined;
  /** What they may do, as a list or as words with spaces between. Default `permissions`, or `scope` where there is none. */
  readonly permissions?: string | readonly string[] | undefined;
  /** A list of loggers at and below which levels may be changed. Default: no such claim, and everywhere. */
  readonly loggers?: string | readonly string[] | undefined;
}

/** How often is too often. */
export interface AccessLimits {
  /**
   * Wrong credentials a minute from one address (IPv6: from one /64; from one /48 sixteen times as many). Above that it hears
   * 429; a valid token, JWT or certificate from there is still let in. Default 30.
   */
  readonly maxFailuresPerMinute?: number | undefined;
  /**
   * Writes a minute by one caller, for each permission. All may come at once, as when Spring Boot Admin deletes every session
   * of a user. The limit of `graph:write` is ten times as high, since spans come in many small parts. Default 300; no limit if
   * callers need not authenticate.
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
  /** JSON Web Tokens, as an identity provider signs them. */
  readonly jwt?: JwtOptions | undefined;
  /** The first rule that fits counts. Only for a server whose TLS asks for certificates. */
  readonly certificates?: readonly CertificateRule[] | undefined;
  /** Asked where no other mechanism knows the form of what the caller shows, and where the caller shows nothing. */
  readonly authorize?: Authorize | undefined;
  /**
   * How often `authorize` is called again, with the same request, while a caller that it accepted has a watch or a held level. If
   * its answer differs, these end; if it fails, they end after five times as long. In milliseconds; default 60,000.
   */
  readonly reauthorizeIntervalMs?: number | undefined;
  /**
   * What callers may do who show nothing. Default: nothing, or everything where there is no mechanism. Not together with
   * `authorize`, which can answer for them itself.
   */
  readonly anonymous?: readonly PermissionPattern[] | undefined;
  /** Whether tokens are also taken as the password of Basic, which is all that Spring Boot Admin sends. Default true. */
  readonly basic?: boolean | undefined;
  /** Rate limits of failed authentications and of writes. */
  readonly limits?: AccessLimits | undefined;
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
export const accessOptions: Check = objectOf(ACCESS, ({ authorize, anonymous }) =>
  authorize === undefined || anonymous === undefined
    ? undefined
    : ".anonymous cannot be combined with authorize, which decides about anonymous callers itself",
);

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
