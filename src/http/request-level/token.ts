import { createHmac, timingSafeEqual } from "node:crypto";
import { ActuatorError } from "../../common/error.ts";
import { LEVELS, type Level } from "../../loggers/level.ts";
import { loggerName } from "../../loggers/name.ts";

/** What a token asks for. */
export interface LevelToken {
  readonly level: Level;
  /** For the logger with this name and those below it. Default: all. */
  readonly logger?: string | undefined;
  /** For so long from now, in milliseconds. */
  readonly ttlMs: number;
}

/** What a token says that was found to be good. */
export interface TokenContent {
  readonly level: Level;
  readonly logger: string | undefined;
}

/** Why a token counts for nothing. */
export type TokenFault = "TOO_LONG" | "NOT_SIGNED" | "EXPIRED" | "LASTS_TOO_LONG" | "UNFIT";

/** Longer than any token that {@link signLevelToken} makes. */
const MAX_LENGTH = 2_048;
const MIN_KEY_BYTES = 32;
/** Signed with every token, so that another signature of the same key is not a token. */
const PURPOSE = "connect-actuator level token 1\n";

/**
 * Makes a token for the header that {@link requestLevel} reads: what it asks for and when it expires, readable by its holder,
 * with an HMAC-SHA-256 over both.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a key under 32 bytes, an unfit level, name or time.
 */
export function signLevelToken(key: string | Uint8Array, { level, logger, ttlMs: ttl }: LevelToken): string {
  checkKey(key);
  if (!LEVELS.includes(level)) throw unfit("level", `The level is none of ${LEVELS.join(", ")}.`);
  if (!(ttl > 0 && Number.isFinite(ttl))) throw unfit("ttl", "The ttl is not a time in milliseconds over 0.");
  const name = logger === undefined ? undefined : loggerName(logger);
  const content = Buffer.from(JSON.stringify({ level, logger: name, expires: Date.now() + ttl })).toString("base64url");
  return `${content}.${signature(key, content).toString("base64url")}`;
}

/** Reads a token that expires within `maxTtlMs` milliseconds from now. Nothing of it is looked at before its signature is. */
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

/** @throws ActuatorError INVALID_ARGUMENT for a key that could be guessed. */
export function checkKey(key: string | Uint8Array): void {
  const fit = typeof key === "string" || key instanceof Uint8Array;
  if (!fit || Buffer.byteLength(key) < MIN_KEY_BYTES) {
    throw unfit("key", `The key of level tokens has fewer than ${MIN_KEY_BYTES} bytes.`);
  }
}

function signature(key: string | Uint8Array, content: string): Buffer {
  return createHmac("sha256", key).update(PURPOSE).update(content).digest();
}

function unfit(field: string, message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", `INVALID_${field.toUpperCase()}`, message, { field });
}
