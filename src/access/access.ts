import { ActuatorError } from "../common/error.ts";
import { addressBlock } from "../common/ip-address/address-block.ts";
import { ApplicationCallers } from "./application-callers.ts";
import { AuthFailureLimiter } from "./auth-failure-limiter.ts";
import type { AuthRequest } from "./auth-request.ts";
import { parseAuthorization } from "./authorization.ts";
import { type Authentication, type Caller, requirePermission } from "./caller.ts";
import { Certificates } from "./certificates.ts";
import { isJwt, JwtVerifier } from "./jwt.ts";
import { type AccessOptions, checkAccessOptions } from "./options.ts";
import { isWrite, PERMISSIONS, type Permission } from "./permission.ts";
import { permissionsFrom } from "./permission-pattern.ts";
import { RateLimit, tooMany } from "./rate-limit.ts";
import { CREDENTIALS_MISSING, refusal } from "./refusal.ts";
import { tokenId } from "./token.ts";
import { Tokens } from "./tokens.ts";

const REALM = 'realm="actuator"';

/** Spans come in many small parts, and have limits of their own. */
const GRAPH_WRITES = 10;

/** Decides who is let in, and to what. Knows a request only by what its headers and its connection say. */
export class Access {
  /** Whether anybody is asked who they are. */
  readonly authenticates: boolean;
  /** The values of `WWW-Authenticate` that go with an answer to somebody who did not say who they are (RFC 9110 §11.6.1). */
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
   * @param onError hears of what callers are not told: a file that cannot be read again, a function that threw
   * @throws ActuatorError INVALID_ARGUMENT for an option that does not exist or does not fit, and for a file that cannot be used
   */
  constructor(options: AccessOptions, onError: (error: unknown, context: string) => void = () => {}) {
    checkAccessOptions("access", options);
    const { tokens, jwt, certificates, authorize, anonymous, basic = true, limits = {} } = options;
    this.#options = options;
    this.authenticates = (tokens ?? jwt ?? certificates ?? authorize) !== undefined;
    this.challenges = [
      ...((tokens ?? jwt ?? authorize) === undefined ? [] : [`Bearer ${REALM}`]),
      ...(tokens !== undefined && basic ? [`Basic ${REALM}, charset="UTF-8"`] : []),
    ];
    // A 401 has to carry a challenge, and no scheme is registered for what TLS does.
    if (this.authenticates && this.challenges.length === 0) this.challenges = [`ClientCertificate ${REALM}`];
    this.#anonymous = permissionsFrom(anonymous ?? (this.authenticates ? [] : PERMISSIONS));
    this.#failures = new AuthFailureLimiter(limits.maxFailuresPerMinute ?? 30);
    const writes = limits.maxWritesPerMinute ?? (this.authenticates ? 300 : undefined);
    this.#writes = writes === undefined ? undefined : new RateLimit(writes);
    this.#graphWrites = writes === undefined ? undefined : new RateLimit(writes * GRAPH_WRITES);
    this.#certificates = certificates && new Certificates(certificates);
    this.#application =
      authorize &&
      new ApplicationCallers(authorize, options.authorizeAgainSeconds, (error) => onError(error, "access.authorize"));
    this.#tokens = tokens === undefined ? undefined : new Tokens(tokens, (error) => onError(error, "access.tokens"));
    try {
      this.#jwt = jwt && new JwtVerifier(jwt, (error) => onError(error, "access.jwt"));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Resolves when the library that checks JWTs is loaded and its keys are known, or known to be out of reach, which `onError`
   * hears of. Nobody has to wait for it.
   */
  async ready(): Promise<void> {
    await this.#jwt?.ready();
  }

  /** Stops following files: what they say now counts from then on. */
  close(): void {
    this.#tokens?.close();
    this.#jwt?.close();
  }

  /**
   * Says who it is, and answers at once where neither a JWT nor a function of the application is asked. Somebody who shows
   * nothing has the authentication `none`. What they may do, {@link allow} decides.
   *
   * @throws ActuatorError UNAUTHENTICATED for wrong credentials; RESOURCE_EXHAUSTED (TOO_MANY_REQUESTS, with
   *   `retryAfterSeconds`) for too many of them; UNAVAILABLE where it cannot be decided
   */
  identify(request: AuthRequest): Caller | Promise<Caller> {
    const { address } = request;
    try {
      const caller = this.#judge(request);
      if (caller === undefined) {
        return { name: address ?? "local", authentication: "none", permissions: this.#anonymous };
      }
      return caller instanceof Promise ? caller.catch((error) => this.#refuse(error, address)) : caller;
    } catch (error) {
      return this.#refuse(error, address);
    }
  }

  /**
   * Lets somebody do this once.
   *
   * @throws ActuatorError UNAUTHENTICATED for somebody who shows nothing; PERMISSION_DENIED; RESOURCE_EXHAUSTED
   *   (TOO_MANY_REQUESTS, with `retryAfterSeconds`) for too many writes
   */
  allow(caller: Caller, permission: Permission): Caller {
    const isNobody = caller.authentication === "none" && this.authenticates;
    if (isNobody && !caller.permissions.has(permission)) {
      throw refusal("Say who you are: this is not for everybody.", CREDENTIALS_MISSING);
    }
    requirePermission(caller, permission);
    if (!isWrite(permission)) return caller;
    const limit = permission === "graph:write" ? this.#graphWrites : this.#writes;
    // Somebody without a name is called by an address, of which they may have many.
    const name = caller.authentication === "none" ? addressBlock(caller.name) : caller.name;
    const key = `${permission} ${caller.authentication} ${name}`;
    const wait = limit?.waitSeconds(key) ?? 0;
    if (wait > 0) throw tooMany("changes", wait);
    limit?.count(key);
    return caller;
  }

  /**
   * Whether somebody who was let in still would be: their token stands in the file as it did, their JWT was not revoked, neither
   * has expired, and the function of the application says the same of them. For calls that go on for long, such as watches.
   */
  holds(caller: Caller): boolean {
    const by: { readonly [A in Authentication]?: Mechanism | undefined } = {
      token: this.#tokens,
      jwt: this.#jwt,
      custom: this.#application,
    };
    return by[caller.authentication]?.holds(caller) ?? true;
  }

  /** What a caller shows is judged by the one mechanism that knows its form; undefined for somebody who shows nothing. */
  #judge(request: AuthRequest): Caller | Promise<Caller> | undefined {
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
    // What the function compares may be a password that can be guessed; nobody can guess tokens and signatures.
    if (application !== undefined) return this.#failures.guard(address, () => application.find(request));
    if (authorization === undefined || !this.authenticates) return undefined;
    throw refusal("These credentials are of no kind that is taken here.");
  }

  #refuse(error: unknown, address: string | undefined): never {
    if (!(error instanceof ActuatorError) || error.code !== "UNAUTHENTICATED") throw error;
    // Whoever shows nothing guesses nothing: a probe of the health would use up what its whole network may be wrong.
    throw error.reason === CREDENTIALS_MISSING ? error : this.#failures.recordFailure(address, error);
  }
}

/** What can tell whether those whom it let in still would be. */
interface Mechanism {
  holds(caller: Caller): boolean;
}
