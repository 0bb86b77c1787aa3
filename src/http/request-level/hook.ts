import { ActuatorError } from "../../common/error.ts";
import { checkOptions, text, unknown } from "../../common/options.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { checkKey, readLevelToken, type TokenFault } from "./token.ts";

/** Which requests may ask for a level of their own. */
export interface RequestLevelHookOptions {
  /** Signs the tokens, with at least 32 bytes. A client with the key can make requests verbose, and nothing else. */
  readonly key: string | Uint8Array;
  /** The header with the token. Default `x-log-level-token`. */
  readonly header?: string | undefined;
  /** A token that is good for longer than this from now counts for nothing: in milliseconds. Default an hour. */
  readonly maxTtlMs?: number | undefined;
}

/** A request of `node:http`, Express or Fastify. */
export interface HookedRequest {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

/** A response of `node:http` or Express. */
export interface HookedResponse {
  readonly destroyed: boolean;
  once(event: "close", listener: () => void): unknown;
}

/** Runs the rest of a request; a middleware of Express, and an `onRequest` hook of Fastify. */
export type RequestLevelHook = (
  request: HookedRequest,
  response: HookedResponse | { readonly raw: HookedResponse },
  next: () => void,
) => void;

const HOUR_MS = 3_600_000;

/**
 * Gives a request that carries a good token of {@link signLevelToken} the level that this asks for, until its response is closed.
 * Any other request runs as it is: a token that counts for nothing is no error, and the first one becomes a warning of the process.
 *
 * @example
 * ```ts
 * app.use(requestLevel(actuator.loggers!, { key }));
 * ```
 *
 * @throws ActuatorError INVALID_ARGUMENT for a key under 32 bytes or an unfit `maxTtlMs`.
 */
export function requestLevel(loggers: Pick<Loggers, "withLevel">, options: RequestLevelHookOptions): RequestLevelHook {
  checkOptions<RequestLevelHookOptions>(
    "requestLevel",
    options,
    { key: unknown, header: text, maxTtlMs: unknown },
    "{ key }",
  );
  const { key, header = "x-log-level-token", maxTtlMs = HOUR_MS } = options;
  checkKey(key);
  if (!(maxTtlMs > 0)) {
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_MAX_TTL", "The maxTtlMs is not over 0.", {
      field: "maxTtlMs",
    });
  }
  const name = header.toLowerCase();
  let told = false;
  const ignore = (fault: TokenFault) => {
    if (told) return;
    told = true;
    process.emitWarning(`a level token was ignored (${fault}); further ones are not told of`, "LevelTokenWarning");
  };
  return (request, response, next) => {
    const token = request.headers[name];
    if (typeof token !== "string") return next();
    const content = readLevelToken(key, token, maxTtlMs);
    const raw = "raw" in response ? response.raw : response;
    if (typeof content === "string") ignore(content);
    if (typeof content === "string" || raw.destroyed) return next();
    const { level, logger } = content;
    const run = () => {
      next();
      return new Promise<void>((resolve) => raw.once("close", resolve));
    };
    void loggers.withLevel(level, run, { logger });
  };
}
