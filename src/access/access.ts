import { ActuatorError } from "../common/error.ts";
import { addressBlock } from "../common/ip-address.ts";
import { ApplicationCallers } from "./application-callers.ts";
import { AuthFailureLimiter } from "./auth-failure-limiter.ts";
import type { AuthRequest } from "./auth-request.ts";
import { type Authentication, type Caller, requirePermission } from "./caller.ts";
import { Certificates } from "./certificates.ts";
import { CREDENTIALS_MISSING, parseAuthorization, unauthenticated } from "./credentials.ts";
import { isJwt, JwtVerifier } from "./jwt.ts";
import { type AccessOptions, checkAccessOptions, requiresCredentials } from "./options.ts";
import { isWrite, type Permission, permissionsFrom } from "./permission.ts";
import { RateLimit, tooMany } from "./rate-limit.ts";
import { tokenId } from "./token.ts";
import { Tokens } from "./tokens.ts";

const REALM = 'realm="actuator"';

/** Writes of the graph come in many small parts (spans) and have further limits of their own. */
const GRAPH_WRITE_FACTOR = 10;

/** Authenticates callers and checks their permissions. Knows only the headers and the connection of a request. */
export class Access {
  /** Whether any mechanism is configured, so that callers must authenticate. */
  readonly authenticates: boolean;
  /** Whether client certificates authenticate, so that one that cannot be used is an error. */
  readonly usesCertificates: boolean;
  /** The values of `WWW-Authenticate` for an answer of 401 (RFC 9110 §11.6.1). */
  readonly challenges: readonly string[];
  readonly #options: AccessOptions;
  readonly #tokens: Tokens | undefined;
  readonly #jwt: JwtVerifier | undefined;
  readonly #certificates: Certificates | undefined;
  readonly #application: ApplicationCallers | undefined;
  readonly #anonymous: ReadonlySet<Permission>;
  readonly #failures: AuthFailureLimiter;
  readonly #writes: RateLimit | undefined;
  readonly #graphWrites: RateLimit | undefined;

  /**
   * @param onError receives what callers must not see: a file that cannot be read again, a function that threw
   * @throws ActuatorError INVALID_ARGUMENT for an unknown or invalid option, and for a file that cannot be used
   */
  constructor(options: AccessOptions, onError: (error: unknown, context: string) => void = () => {}) {
    checkAccessOptions("access", options);
    const { tokens, jwt, certificates, authorize, anonymous, basic = true, limits = {} } = options;
    this.#options = options;
    this.authenticates = requiresCredentials(options);
    this.usesCertificates = certificates !== undefined;
    this.challenges = [
      ...((tokens ?? jwt ?? authorize) === undefined ? [] : [`Bearer ${REALM}`]),
      ...(tokens !== undefined && basic ? [`Basic ${REALM}, charset="UTF-8"`] : []),
    ];
    // A 401 must have a challenge, and no registered scheme stands for client certificates.
    if (this.authenticates && this.challenges.length === 0) this.challenges = [`ClientCertificate ${REALM}`];
    this.#anonymous = permissionsFrom(anonymous ?? (this.authenticates ? [] : ["*"]));
    this.#failures = new AuthFailureLimiter(limits.maxFailuresPerMinute ?? 30);
    const writes = limits.maxWritesPerMinute ?? (this.authenticates ? 300 : undefined);
    this.#writes = writes === undefined ? undefined : new RateLimit(writes);
    this.#graphWrites = writes === undefined ? undefined : new RateLimit(writes * GRAPH_WRITE_FACTOR);
    this.#certificates = certificates && new Certificates(certificates);
    this.#application =
      authorize &&
      new ApplicationCallers(authorize, options.reauthorizeIntervalMs, (error) => onError(error, "access.authorize"));
    this.#tokens = tokens === undefined ? undefined : new Tokens(tokens, (error) => onError(error, "access.tokens"));
    try {
      this.#jwt = jwt && new JwtVerifier(jwt, (error) => onError(error, "access.jwt"));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Resolves when the JWT library is loaded and its keys were fetched, successfully or not; a failure goes to `onError`. Optional: a
   * request that comes earlier waits by itself.
   */
  async ready(): Promise<void> {
    await this.#jwt?.ready();
  }

  /** Stops following files; their last content stays in force. */
  close(): void {
    this.#tokens?.close();
    this.#jwt?.close();
  }

  /**
   * Authenticates a request; synchronous unless a JWT or the application's function decides. A request without credentials gets an
   * anonymous caller (authentication `none`), and {@link authorize} decides what it may do.
   *
   * @throws ActuatorError UNAUTHENTICATED for wrong credentials; RESOURCE_EXHAUSTED (TOO_MANY_REQUESTS, with
   *   `retryAfterSeconds`) after too many of them; UNAVAILABLE if they cannot be checked
   */
  authenticate(request: AuthRequest): Caller | Promise<Caller> {
    const { address } = request;
    try {
      const caller = this.#callerOf(request);
      if (caller === undefined) {
        return { name: address ?? "local", authentication: "none", permissions: this.#anonymous };
      }
      return caller instanceof Promise ? caller.catch((error) => this.#refuse(error, address)) : caller;
    } catch (error) {
      return this.#refuse(error, address);
    }
  }

  /**
   * Allows a caller one operation that needs one of the permissions. Counts writes.
   *
   * @throws ActuatorError UNAUTHENTICATED if an anonymous caller has none of them, PERMISSION_DENIED if another one has none;
   *   RESOURCE_EXHAUSTED (TOO_MANY_REQUESTS, with `retryAfterSeconds`) for too many writes
   */
  authorize(caller: Caller, ...permissions: readonly Permission[]): Caller {
    const isAnonymous = caller.authentication === "none" && this.authenticates;
    if (isAnonymous && !permissions.some((permission) => caller.permissions.has(permission))) {
      throw unauthenticated("Authentication required.", CREDENTIALS_MISSING);
    }
    const permission = requirePermission(caller, ...permissions);
    // What a permission to read allows as well is no change.
    if (!permissions.every(isWrite)) return caller;
    const limit = permission === "graph:write" ? this.#graphWrites : this.#writes;
    // An anonymous caller is named by its address, and may have many.
    const name = caller.authentication === "none" ? addressBlock(caller.name) : caller.name;
    const key = `${permission} ${caller.authentication} ${name}`;
    const wait = limit?.waitSeconds(key) ?? 0;
    if (wait > 0) throw tooMany("changes", wait);
    limit?.count(key);
    return caller;
  }

  /**
   * Whether a caller's credentials are still valid: the token is unchanged in its file, the JWT is not revoked, neither has expired, and
   * the application's function still returns the same caller. For long-lived calls such as watches.
   */
  isStillValid(caller: Caller): boolean {
    return this.#mechanismOf(caller)?.isStillValid(caller) ?? true;
  }

  /** Whether the token or JWT of a caller that is no longer valid has expired, rather than been revoked. */
  isExpired(caller: Caller): boolean {
    return this.#mechanismOf(caller)?.isExpired?.(caller) ?? false;
  }

  #mechanismOf({ authentication }: Caller): Mechanism | undefined {
    const mechanisms: { readonly [A in Authentication]?: Mechanism | undefined } = {
      token: this.#tokens,
      jwt: this.#jwt,
      custom: this.#application,
    };
    return mechanisms[authentication];
  }

  /** Asks the one mechanism that supports the form of the credentials. Returns undefined if the request has none. */
  #callerOf(request: AuthRequest): Caller | Promise<Caller> | undefined {
    const { authorization, certificate, address } = request;
    const { basic = true } = this.#options;
    const application = this.#application;
    if (authorization !== undefined) {
      const { scheme, token = "" } = parseAuthorization(authorization) ?? {};
      const isToken = tokenId(token) !== undefined && (scheme === "bearer" || basic);
      if (this.#tokens !== undefined && isToken) return this.#tokens.find(token);
      if (this.#jwt !== undefined && scheme === "bearer" && isJwt(token)) return this.#jwt.verify(token);
    } else if (this.#certificates !== undefined && certificate !== undefined) {
      return this.#certificates.find(certificate);
    }
    // The function may compare passwords, which can be guessed; tokens and signatures cannot.
    if (application !== undefined) return this.#failures.guard(address, () => application.find(request));
    if (authorization === undefined || !this.authenticates) return undefined;
    throw unauthenticated("The server does not accept credentials of this form.");
  }

  #refuse(error: unknown, address: string | undefined): never {
    if (!(error instanceof ActuatorError) || error.code !== "UNAUTHENTICATED") throw error;
    // Missing credentials are no guess: the probes of a load balancer must not use up the failures of its whole network.
    throw error.reason === CREDENTIALS_MISSING ? error : this.#failures.recordFailure(address, error);
  }
}

/** A mechanism whose callers can lose their permissions during a call. */
interface Mechanism {
  isStillValid(caller: Caller): boolean;
  isExpired?(caller: Caller): boolean;
}
