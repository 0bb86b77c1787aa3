import { ActuatorError } from "../error.ts";
import { checkOptions } from "../options.ts";
import { addressBlock } from "./address-block.ts";
import { type Credentials, parseAuthorization } from "./authorization.ts";
import { type Caller, requirePermission } from "./caller.ts";
import type { Knock } from "./knock.ts";
import { ACCESS, type AccessOptions } from "./options.ts";
import { isWrite, PERMISSIONS, type Permission } from "./permission.ts";
import { permissionsFrom } from "./permission-pattern.ts";
import { RateLimit, tooMany } from "./rate-limit.ts";
import { tokenId } from "./token.ts";
import { Tokens } from "./tokens.ts";

const REALM = 'realm="actuator"';

/** Decides who is let in, and to what. Knows a request only by what its headers and its connection say. */
export class Access {
  /** Whether anybody is asked who they are. */
  readonly authenticates: boolean;
  /** The values of `WWW-Authenticate` that go with an answer to somebody who did not say who they are (RFC 9110 §11.6.1). */
  readonly challenges: readonly string[];
  readonly #tokens: Tokens | undefined;
  readonly #anonymous: ReadonlySet<Permission>;
  readonly #failures: RateLimit;
  readonly #writes: RateLimit | undefined;

  /**
   * @param onError hears of what callers are not told: a file that cannot be read again, a function that threw
   * @throws ActuatorError INVALID_ARGUMENT for an option that does not exist or does not fit, and for a file that cannot be used
   */
  constructor(options: AccessOptions, onError: (error: unknown, context: string) => void = () => {}) {
    checkOptions("access", options, ACCESS);
    const { tokens, jwt, certificates, authorize, anonymous, basic = true, limits = {} } = options;
    this.authenticates = (tokens ?? jwt ?? certificates ?? authorize) !== undefined;
    this.challenges = [
      ...(this.authenticates ? [`Bearer ${REALM}`] : []),
      ...(tokens !== undefined && basic ? [`Basic ${REALM}, charset="UTF-8"`] : []),
    ];
    this.#anonymous = permissionsFrom(anonymous ?? (this.authenticates ? [] : PERMISSIONS));
    this.#failures = new RateLimit(limits.maxFailuresPerMinute ?? 30);
    const writes = limits.maxWritesPerMinute ?? (this.authenticates ? 300 : undefined);
    this.#writes = writes === undefined ? undefined : new RateLimit(writes);
    this.#tokens = tokens === undefined ? undefined : new Tokens(tokens, (error) => onError(error, "access.tokens"));
  }

  /** Resolves when all that decides is loaded. */
  async ready(): Promise<void> {}

  /** Stops following files. Who is known now is known ever after. */
  close(): void {
    this.#tokens?.close();
  }

  /**
   * Lets somebody in who may do this.
   *
   * @throws ActuatorError UNAUTHENTICATED, PERMISSION_DENIED, or RESOURCE_EXHAUSTED (TOO_MANY_REQUESTS, with `retryAfterSeconds`)
   */
  admit(knock: Knock, permission: Permission): Caller | Promise<Caller> {
    return this.#allow(this.#identify(knock), permission);
  }

  #identify(knock: Knock): Caller {
    const { authorization, address } = knock;
    if (authorization === undefined)
      return { name: address ?? "local", authentication: "none", permissions: this.#anonymous };
    try {
      return this.#judge(parseAuthorization(authorization));
    } catch (error) {
      const block = addressBlock(address);
      const wait = this.#failures.waitSeconds(block);
      this.#failures.count(block);
      throw wait > 0 ? tooMany("wrong credentials from this address", wait) : error;
    }
  }

  #judge(credentials: Credentials | undefined): Caller {
    if (this.#tokens !== undefined && credentials !== undefined && tokenId(credentials.token) !== undefined) {
      return this.#tokens.find(credentials.token);
    }
    throw new ActuatorError(
      "UNAUTHENTICATED",
      "CREDENTIALS_INVALID",
      "These credentials are of no kind that is taken here.",
    );
  }

  #allow(caller: Caller, permission: Permission): Caller {
    if (caller.authentication === "none" && !caller.permissions.has(permission)) {
      throw new ActuatorError("UNAUTHENTICATED", "CREDENTIALS_MISSING", "Say who you are: this is not for everybody.");
    }
    requirePermission(caller, permission);
    if (this.#writes !== undefined && isWrite(permission)) {
      const key = `${permission} ${caller.authentication} ${caller.name}`;
      const wait = this.#writes.waitSeconds(key);
      if (wait > 0) throw tooMany("changes", wait);
      this.#writes.count(key);
    }
    return caller;
  }
}
