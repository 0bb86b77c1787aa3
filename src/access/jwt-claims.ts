import type { JWTPayload } from "jose";
import type { Caller } from "./caller.ts";
import type { JwtOptions } from "./options.ts";
import { PERMISSIONS } from "./permission.ts";
import { permissionsFrom } from "./permission-pattern.ts";
import { callerName, loggerPrefix } from "./token-file.ts";

const SINGLE: ReadonlySet<string> = new Set(PERMISSIONS);

/**
 * Whom the claims of a verified JWT describe; undefined where they do not name anybody. A word in the claim of permissions
 * that means nothing here gives nothing, and no word gives more than one permission by itself: `*` may mean something else to
 * whoever wrote it.
 */
export function callerFromClaims(payload: JWTPayload, options: JwtOptions): Caller | undefined {
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
      ? words.filter((word) => SINGLE.has(word))
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

/** A list of texts, or one text of words with spaces between (RFC 6749 §3.3). */
function wordsOf(claim: unknown): readonly string[] {
  if (typeof claim === "string") return claim.split(" ");
  return Array.isArray(claim) ? claim.filter((each) => typeof each === "string") : [];
}
