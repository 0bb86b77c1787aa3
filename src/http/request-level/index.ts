import { createHmac, timingSafeEqual } from "node:crypto";
import { ActuatorError } from "../../common/error.ts";
import { checkOptions, text, unknown } from "../../common/options.ts";
import { LEVELS, type Level } from "../../loggers/level.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { loggerName } from "../../loggers/name.ts";

/** Options of {@link requestLevel}. */
export interface RequestLevelHookOptions {
  /** The key that signs tokens, of at least 32 bytes. A client with the key can make requests verbose, and nothing else. */
  readonly key: string | Uint8Array;
  /** The header with the token. Default `x-log-level-token`. */
  readonly header?: string | undefined;
  /** The maximum remaining time of a token in milliseconds; a token that expires later is ignored. Default one hour. */
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

/** A middleware of Express, and an `onRequest` hook of Fastify. */
export type RequestLevelHook = (
  request: HookedRequest,
  response: HookedResponse | { readonly raw: HookedResponse },
  next: () => void,
) => void;

const HOUR_MS = 3_600_000;

/**
 * Makes a middleware that gives a request with a valid token of {@link signLevelToken} the level that the token asks for, until its
 * response closes. Other requests run as they are; the first invalid token becomes a warning of the process.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a key of fewer than 32 bytes or an invalid `maxTtlMs`
 * @example
 * ```ts
 * app.use(requestLevel(actuator.loggers!, { key }));
 * ```
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
    const message = `requestLevel.maxTtlMs must be a number of milliseconds above 0, not ${maxTtlMs}`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_MAX_TTL", message, { field: "maxTtlMs" });
  }
  const name = header.toLowerCase();
  let warned = false;
  const warn = (fault: TokenFault) => {
    if (warned) return;
    warned = true;
    process.emitWarning(`a level token was ignored (${fault}); further ones are not reported`, "LevelTokenWarning");
  };
  return (request, response, next) => {
    const token = request.headers[name];
    if (typeof token !== "string") return next();
    const content = readLevelToken(key, token, maxTtlMs);
    const raw = "raw" in response ? response.raw : response;
    if (typeof content === "string") warn(content);
    if (typeof content === "string" || raw.destroyed) return next();
    const { level, logger } = content;
    const run = () => {
      next();
      return new Promise<void>((resolve) => raw.once("close", resolve));
    };
    void loggers.withLevel(level, run, { logger });
  };
}

/** The content of a token that {@link signLevelToken} makes. */
export interface LevelToken {
  readonly level: Level;
  /** The logger with this name and those below it. Default: all. */
  readonly logger?: string | undefined;
  /** How long the token is valid, in milliseconds from now. */
  readonly ttlMs: number;
}

/** The content of a valid token. */
export interface TokenContent {
  readonly level: Level;
  readonly logger: string | undefined;
}

/** Why a token is ignored. */
export type TokenFault = "TOO_LONG" | "NOT_SIGNED" | "EXPIRED" | "LASTS_TOO_LONG" | "UNFIT";

/** Longer than any token that {@link signLevelToken} makes. */
const MAX_LENGTH = 2_048;
const MIN_KEY_BYTES = 32;
/** Signed with every token, so that another signature of the same key is not a token. */
const PURPOSE = "connect-actuator level token 1\n";

/**
 * Makes a token for the header that {@link requestLevel} reads: a level, a logger and an expiry, readable by its holder, with an
 * HMAC-SHA-256 over them.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a key of fewer than 32 bytes, and an invalid level, name or time
 * @example
 * ```ts
 * const token = signLevelToken(key, { level: "DEBUG", logger: "shop.orders", ttlMs: 600_000 });
 * ```
 */
export function signLevelToken(key: string | Uint8Array, { level, logger, ttlMs }: LevelToken): string {
  checkKey(key);
  if (!LEVELS.includes(level)) throw invalid("level", `level must be one of ${LEVELS.join(", ")}, not ${level}`);
  if (!(ttlMs > 0 && Number.isFinite(ttlMs))) {
    throw invalid("ttl", `ttlMs must be a number of milliseconds above 0, not ${ttlMs}`);
  }
  const name = logger === undefined ? undefined : loggerName(logger);
  const json = JSON.stringify({ level, logger: name, expires: Date.now() + ttlMs });
  const content = Buffer.from(json).toString("base64url");
  return `${content}.${signature(key, content).toString("base64url")}`;
}

/** Reads a token that expires within `maxTtlMs` milliseconds from now. Verifies its signature before it parses the content. */
export function readLevelToken(key: string | Uint8Array, token: string, maxTtlMs: number): TokenContent | TokenFault {
  if (token.length > MAX_LENGTH) return "TOO_LONG";
  const dot = token.indexOf(".");
  const content = token.slice(0, Math.max(0, dot));
  const given = Buffer.from(token.slice(dot + 1), "base64url");
  const right = signature(key, content);
  if (dot < 0 || given.length !== right.length || !timingSafeEqual(given, right)) return "NOT_SIGNED";
  // A newer version with the same key may have signed what this version does not know.
  const signed = parse(Buffer.from(content, "base64url").toString());
  if (signed === undefined) return "UNFIT";
  const left = signed.expires - Date.now();
  if (left <= 0) return "EXPIRED";
  return left > maxTtlMs ? "LASTS_TOO_LONG" : { level: signed.level, logger: signed.logger };
}

function parse(text: string): (TokenContent & { readonly expires: number }) | undefined {
  try {
    const { level, logger, expires } = JSON.parse(text) as Record<string, unknown>;
    const name = logger === undefined ? undefined : loggerName(logger as string);
    if (!LEVELS.includes(level as Level) || typeof expires !== "number") return undefined;
    return { level: level as Level, logger: name, expires };
  } catch {
    return undefined;
  }
}

function checkKey(key: string | Uint8Array): void {
  const isValid = typeof key === "string" || key instanceof Uint8Array;
  if (!isValid || Buffer.byteLength(key) < MIN_KEY_BYTES) {
    throw invalid("key", `key must be a string or Uint8Array of at least ${MIN_KEY_BYTES} bytes`);
  }
}

function signature(key: string | Uint8Array, content: string): Buffer {
  return createHmac("sha256", key).update(PURPOSE).update(content).digest();
}

function invalid(field: string, message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", `INVALID_${field.toUpperCase()}`, message, { field });
}
