import type { JSONWebKeySet, JWTPayload } from "jose";
import { ActuatorError } from "../common/error.ts";
import type { Caller } from "./caller.ts";
import { unauthenticated } from "./credentials.ts";
import { type KeySource, keySource } from "./jwt-keys.ts";
import { JWT_ALGORITHMS, type JwtOptions } from "./options.ts";
import { PERMISSIONS, permissionsFrom } from "./permission.ts";
import { type JwtClaimsToRevoke, RevokedJwts } from "./revoked-jwts.ts";
import { callerName, loggerPrefix } from "./token-file.ts";

/** The compact form of a signed JWT: three parts in base64url. */
const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const REFUSED = "The JWT is not valid here.";

/** Messages by the claim that was wrong; the signature was right. */
const CLAIM_MESSAGES: Readonly<Record<string, string>> = {
  iss: "The JWT has an issuer that this server does not trust.",
  aud: "The JWT is meant for another audience.",
  exp: "The JWT has no expiry (claim exp).",
  nbf: "The JWT is not valid yet.",
  typ: "The JWT has another type than this server accepts.",
};

interface AcceptedJwt extends JwtClaimsToRevoke {
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

type Jose = typeof import("jose");
type KeyOf = ReturnType<Jose["createLocalJWKSet"]>;

/** Whether a token has the form of a signed JWT. */
export function isJwt(token: string): boolean {
  return FORM.test(token);
}

/** Authenticates callers by signed JWTs. Loads the library `jose` when it is first needed. */
export class JwtVerifier {
  readonly #options: JwtOptions;
  readonly #keys: KeySource;
  readonly #onError: (error: unknown) => void;
  readonly #revoked: RevokedJwts | undefined;
  readonly #accepted = new WeakMap<Caller, AcceptedJwt>();
  #jose: Promise<Jose> | undefined;
  #imported: { readonly keys: JSONWebKeySet; readonly keyOf: KeyOf } | undefined;
  #reported: string | undefined;

  /** @throws ActuatorError INVALID_ARGUMENT if a file of keys or of revoked JWTs cannot be used */
  constructor(options: JwtOptions, onError: (error: unknown) => void) {
    this.#options = options;
    this.#onError = onError;
    this.#revoked = options.revoked === undefined ? undefined : new RevokedJwts(options.revoked, onError);
    try {
      this.#keys = keySource(options.jwks, onError);
    } catch (error) {
      this.#revoked?.close();
      throw error;
    }
  }

  /** Resolves when the library is loaded and the keys were fetched, successfully or not. */
  async ready(): Promise<void> {
    await this.#library();
    await Promise.resolve(this.#keys.keys()).catch(() => undefined);
  }

  /**
   * Verifies a JWT and returns its caller.
   *
   * @throws ActuatorError UNAUTHENTICATED; UNAVAILABLE if there are no keys to verify it with
   */
  async verify(token: string): Promise<Caller> {
    const payload = await this.#payloadOf(token);
    const caller = callerFromClaims(payload, this.#options);
    if (caller === undefined) {
      throw unauthenticated("The JWT does not name its caller in a claim of 1 to 128 printable characters.");
    }
    const { jti, sub, iat } = payload;
    const accepted = { jti, sub, iat, expires: (payload.exp! + this.#tolerance) * 1_000 };
    if (this.#revoked?.has(accepted)) throw unauthenticated("The JWT was revoked.", "CREDENTIALS_REVOKED");
    this.#accepted.set(caller, accepted);
    return caller;
  }

  /** Whether the JWT of a caller has neither expired nor been revoked since it was verified. */
  isStillValid(caller: Caller): boolean {
    const accepted = this.#accepted.get(caller);
    return accepted !== undefined && accepted.expires > Date.now() && !this.#revoked?.has(accepted);
  }

  /** Whether the JWT of a caller has expired since it was verified. */
  isExpired(caller: Caller): boolean {
    return (this.#accepted.get(caller)?.expires ?? Number.POSITIVE_INFINITY) <= Date.now();
  }

  close(): void {
    this.#keys.close();
    this.#revoked?.close();
  }

  /** In seconds, as JWTs count. */
  get #tolerance(): number {
    return (this.#options.clockToleranceMs ?? 30_000) / 1_000;
  }

  #library(): Promise<Jose> {
    return (this.#jose ??= import("jose"));
  }

  async #payloadOf(token: string): Promise<JWTPayload> {
    const { issuer, audience, algorithms = JWT_ALGORITHMS, type } = this.#options;
    const jose = await this.#library();
    try {
      const { payload } = await jose.jwtVerify(token, (header, input) => this.#keyOf(jose, header, input), {
        issuer: [issuer].flat(),
        audience: [audience].flat(),
        algorithms: [...algorithms],
        clockTolerance: this.#tolerance,
        requiredClaims: ["exp"],
        ...(type !== undefined && { typ: type }),
      });
      // The library looks at this claim only if it limits the age of tokens.
      if ((payload.iat ?? 0) > Date.now() / 1_000 + this.#tolerance) {
        throw unauthenticated("The JWT was issued in the future (claim iat).");
      }
      return payload;
    } catch (error) {
      if (error instanceof ActuatorError) throw error;
      const { errors } = jose;
      if (error instanceof errors.JWTExpired) throw unauthenticated("The JWT has expired.", "CREDENTIALS_EXPIRED");
      if (error instanceof errors.JWTClaimValidationFailed) {
        throw unauthenticated(CLAIM_MESSAGES[error.claim] ?? REFUSED);
      }
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)) throw unauthenticated(REFUSED);
      throw this.#unusableKeys(error);
    }
  }

  async #keyOf(jose: Jose, ...[header, input]: Parameters<KeyOf>): ReturnType<KeyOf> {
    try {
      return await this.#import(jose, await this.#keys.keys())(header, input);
    } catch (error) {
      const isUnknownKey = error instanceof jose.errors.JWKSNoMatchingKey;
      if (!isUnknownKey || !(await this.#keys.refresh())) throw error;
      return this.#import(jose, await this.#keys.keys())(header, input);
    }
  }

  /** Imports a key set once, until there is another. */
  #import(jose: Jose, keys: JSONWebKeySet): KeyOf {
    if (this.#imported?.keys !== keys) this.#imported = { keys, keyOf: jose.createLocalJWKSet(keys) };
    return this.#imported.keyOf;
  }

  #unusableKeys(error: unknown): ActuatorError {
    const message = String((error as Error).message);
    if (message !== this.#reported) this.#onError(error);
    this.#reported = message;
    return new ActuatorError("UNAVAILABLE", "KEYS_UNUSABLE", "JWTs cannot be verified at the moment.");
  }
}

const SINGLE_PERMISSIONS: ReadonlySet<string> = new Set(PERMISSIONS);

/**
 * The caller that the claims of a verified JWT describe; undefined if they do not name one. Without `grants`, words that are not
 * permissions grant nothing, and patterns grant nothing either: `*` may mean something else to the issuer.
 */
function callerFromClaims(payload: JWTPayload, options: JwtOptions): Caller | undefined {
  const { claims = {}, grants } = options;
  const name = claimOf(payload, claims.name ?? "sub");
  if (callerName(name) !== undefined) return undefined;
  const words = wordsOf(
    claims.permissions === undefined
      ? (claimOf(payload, "permissions") ?? claimOf(payload, "scope"))
      : claimOf(payload, claims.permissions),
  );
  const patterns =
    grants === undefined
      ? words.filter((word) => SINGLE_PERMISSIONS.has(word))
      : words.flatMap((word) => (Object.hasOwn(grants, word) ? grants[word]! : []));
  const permissions = permissionsFrom(patterns);
  const caller: Caller = { name: name as string, authentication: "jwt", permissions };
  if (claims.loggers === undefined) return caller;
  const loggers = wordsOf(claimOf(payload, claims.loggers)).filter((word) => loggerPrefix(word) === undefined);
  return { ...caller, loggers };
}

function claimOf(payload: JWTPayload, path: string | readonly string[]): unknown {
  let value: unknown = payload;
  for (const key of [path].flat()) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** The words of a list of strings, or of one string with spaces between them (RFC 6749 §3.3). */
function wordsOf(claim: unknown): readonly string[] {
  if (typeof claim === "string") return claim.split(" ");
  return Array.isArray(claim) ? claim.filter((each) => typeof each === "string") : [];
}
