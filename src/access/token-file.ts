import { ActuatorError } from "../common/error.ts";
import { type Checks, listOf, optionFaults, refuseFaults, shaped } from "../common/options.ts";
import { parseStrictJson } from "../common/strict-json.ts";
import { type PermissionPattern, permissionPattern } from "./permission-pattern.ts";
import { timestamp } from "./timestamp.ts";
import { isTokenHash, isTokenId } from "./token.ts";

/** The most bytes and tokens that a file may have. */
export const MAX_TOKEN_FILE_BYTES = 4 * 1024 * 1024;
const MAX_TOKENS = 10_000;
const VERSION = 1;

/** A token as the file has it. */
export interface TokenEntry {
  /** What the history of levels and the audit call whoever uses it. No other token of the file has it. */
  readonly name: string;
  /** The digits in the token that find it here. */
  readonly id: string;
  /** SHA-256 of the whole token. */
  readonly hash: string;
  readonly permissions: readonly PermissionPattern[];
  /** Loggers at and below which levels may be changed. Left out: everywhere. */
  readonly loggers?: readonly string[] | undefined;
  /** When it was made, RFC 3339. */
  readonly created?: string | undefined;
  /** When it stops being let in, RFC 3339. Left out: never. */
  readonly expires?: string | undefined;
}

interface TokenFile {
  readonly version: typeof VERSION;
  readonly tokens: readonly TokenEntry[];
}

/** A name: what a log can carry, without controls, and not endless. */
export const callerName = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && /^(?!\s)[^\p{C}\p{Zl}\p{Zp}]{1,128}(?<!\s)$/u.test(value)
    ? undefined
    : "must be a text of 1 to 128 printable characters",
);

/** The name of a logger at and below which levels may be changed. */
export const loggerPrefix = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && /^[^\p{C}\p{Zl}\p{Zp}]{1,512}$/u.test(value) && !value.endsWith(".")
    ? undefined
    : "must be the name of a logger, such as orders.payment",
);

const FILE: Checks<TokenFile> = {
  version: (value) => (value === VERSION ? undefined : `must be ${VERSION}, the only version there is`),
  tokens: (value) =>
    Array.isArray(value) && value.length <= MAX_TOKENS ? undefined : `must be a list of at most ${MAX_TOKENS} tokens`,
};

const ENTRY: Checks<TokenEntry> = {
  name: callerName,
  id: (value) => (isTokenId(value) ? undefined : "must be the 12 digits that stand after ca_ in the token"),
  hash: (value) => (isTokenHash(value) ? undefined : 'must be "sha256:" and 64 hexadecimal digits in lower case'),
  permissions: listOf(permissionPattern),
  loggers: (value) => (Array.isArray(value) && value.length === 0 ? "must not be empty" : listOf(loggerPrefix)(value)),
  created: timestamp,
  expires: timestamp,
};

/**
 * Reads what {@link encodeTokens} wrote, or somebody by hand.
 *
 * @throws ActuatorError INVALID_ARGUMENT that says what is wrong where, and repeats nothing that a secret could be in
 */
export function decodeTokens(bytes: Uint8Array): readonly TokenEntry[] {
  const content = jsonOf(bytes);
  checkObject("the token file", content, FILE);
  const { version, tokens } = content as TokenFile;
  if (version === undefined || tokens === undefined) throw invalid("the token file must have a version and tokens");
  for (const [index, token] of tokens.entries()) checkEntry(`tokens[${index}]`, token);
  for (const key of ["name", "id"] as const) {
    const seen = new Map<string, number>();
    for (const [index, token] of tokens.entries()) {
      const earlier = seen.get(token[key]);
      if (earlier !== undefined) throw invalid(`tokens[${index}] has the ${key} of tokens[${earlier}]`);
      seen.set(token[key], index);
    }
  }
  return tokens;
}

/** Writes tokens as the text of a file. */
export function encodeTokens(tokens: readonly TokenEntry[]): string {
  return `${JSON.stringify({ version: VERSION, tokens } satisfies TokenFile, null, 2)}\n`;
}

function checkEntry(where: string, token: TokenEntry): void {
  checkObject(where, token, ENTRY);
  for (const key of ["name", "id", "hash", "permissions"] as const) {
    if (token[key] === undefined) throw invalid(`${where} has no ${key}`);
  }
}

/** The first fault alone: it becomes a part of sentences, on the command line and in logs. */
function checkObject<Options extends object>(where: string, value: unknown, checks: Checks<Options>): void {
  refuseFaults(optionFaults(where, value, checks).slice(0, 1));
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    throw invalid(`the token file ${(error as Error).message}`);
  }
}

function invalid(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_TOKEN_FILE", message, { field: "tokens" });
}
