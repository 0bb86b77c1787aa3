import type { JSONWebKeySet, JWTPayload } from "jose";
import { ActuatorError } from "../common/error.ts";
import type { Caller } from "./caller.ts";
import { FileKeys } from "./file-keys.ts";
import { callerFromClaims } from "./jwt-claims.ts";
import type { KeySource } from "./key-source.ts";
import { JWT_ALGORITHMS, type JwtOptions } from "./options.ts";
import { refusal } from "./refusal.ts";
import { RemoteKeys } from "./remote-keys.ts";
import { type JwtOrigin, RevokedJwts } from "./revoked-jwts.ts";

/** The compact form of a signed JWT: three parts in base64url. */
const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const REFUSED = "This JWT is not taken here.";

/** What is said of a claim that does not fit; the signature was right by then. */
const CLAIMS: Readonly<Record<string, string>> = {
  iss: "This JWT is from an issuer that is not believed here.",
  aud: "This JWT is meant for somebody else.",
  exp: "This JWT does not say when it expires.",
  nbf: "This JWT is not valid yet.",
  typ: "This JWT is of another type than is taken here.",
};

interface Shown extends JwtOrigin {
  /** Until when it is let in: milliseconds since the epoch. */
  readonly until: number;
}

type Jose = typeof import("jose");
type KeyOf = ReturnType<Jose["createLocalJWKSet"]>;

/** Whether a text has the form of a signed JWT. */
export function isJwt(token: string): boolean {
  return FORM.test(token);
}

/** Knows callers by JWTs that somebody trusted has signed. The library behind it is loaded when it is first needed. */
export class JwtVerifier {
  readonly #options: JwtOptions;
  readonly #source: KeySource;
  readonly #onError: (error: unknown) => void;
  readonly #revoked: RevokedJwts | undefined;
  /** What those showed who were let in. */
  readonly #shown = new WeakMap<Caller, Shown>();
  #jose: Promise<Jose> | undefined;
  #found: { readonly keys: JSONWebKeySet; readonly keyOf: KeyOf } | undefined;
  #told: string | undefined;

  /** @throws ActuatorError INVALID_ARGUMENT for a file of keys that cannot be used */
  constructor(options: JwtOptions, onError: (error: unknown) => void) {
    this.#options = options;
    this.#onError = onError;
    this.#revoked = options.revoked === undefined ? undefined : new RevokedJwts(options.revoked, onError);
    try {
      this.#source = /^https?:/i.test(options.jwks)
        ? new RemoteKeys(options.jwks, onError)
        : new FileKeys(options.jwks, onError);
    } catch (error) {
      this.#revoked?.close();
      throw error;
    }
  }

  /** Resolves when the library is loaded, and the keys are known or known to be out of reach. */
  async ready(): Promise<void> {
    await this.#library();
    await Promise.resolve(this.#source.keys()).catch(() => undefined);
  }

  /**
   * Who has this JWT.
   *
   * @throws ActuatorError UNAUTHENTICATED; UNAVAILABLE where there are no keys to check it with
   */
  async verify(token: string): Promise<Caller> {
    const payload = await this.#payloadOf(token);
    const caller = callerFromClaims(payload, this.#options);
    if (caller === undefined) throw refusal("This JWT does not name its bearer in a way that is taken here.");
    const { jti, sub, iat } = payload;
    const shown = { jti, sub, iat, until: (payload.exp! + this.#tolerance) * 1_000 };
    if (this.#revoked?.has(shown)) throw refusal("This JWT was revoked.", "CREDENTIALS_REVOKED");
    this.#shown.set(caller, shown);
    return caller;
  }

  /** Whether somebody who showed a JWT would still be let in with it. */
  holds(caller: Caller): boolean {
    const shown = this.#shown.get(caller);
    return shown !== undefined && shown.until > Date.now() && !this.#revoked?.has(shown);
  }

  close(): void {
    this.#source.close();
    this.#revoked?.close();
  }

  get #tolerance(): number {
    return this.#options.clockToleranceSeconds ?? 30;
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
      return payload;
    } catch (error) {
      if (error instanceof ActuatorError) throw error;
      const { errors } = jose;
      if (error instanceof errors.JWTExpired) throw refusal("This JWT has expired.", "CREDENTIALS_EXPIRED");
      if (error instanceof errors.JWTClaimValidationFailed) throw refusal(`${CLAIMS[error.claim] ?? REFUSED}`);
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)) throw refusal(REFUSED);
      throw this.#unusable(error);
    }
  }

  async #keyOf(jose: Jose, ...[header, input]: Parameters<KeyOf>): ReturnType<KeyOf> {
    try {
      return await this.#find(jose, await this.#source.keys())(header, input);
    } catch (error) {
      const unknown = error instanceof jose.errors.JWKSNoMatchingKey;
      if (!unknown || !(await this.#source.renewed())) throw error;
      return this.#find(jose, await this.#source.keys())(header, input);
    }
  }

  /** Keys are imported once, as long as they are those. */
  #find(jose: Jose, keys: JSONWebKeySet): KeyOf {
    if (this.#found?.keys !== keys) this.#found = { keys, keyOf: jose.createLocalJWKSet(keys) };
    return this.#found.keyOf;
  }

  #unusable(error: unknown): ActuatorError {
    const message = String((error as Error).message);
    if (message !== this.#told) this.#onError(error);
    this.#told = message;
    return new ActuatorError("UNAVAILABLE", "KEYS_UNUSABLE", "JWTs cannot be checked at the moment.");
  }
}
