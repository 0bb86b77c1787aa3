import { constants } from "node:fs";
import { type FileHandle, open, realpath, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { ActuatorError } from "../common/error.ts";
import { readBounded } from "../common/files/bounded-file.ts";
import { OWNER_ONLY, replaceFile } from "../common/files/replaced-file.ts";
import {
  type Check,
  type Checks,
  listOf,
  type OptionFault,
  optionFaults,
  refuseFaults,
  shaped,
} from "../common/options.ts";
import { isRecord } from "../common/record.ts";
import { parseStrictJson } from "../common/strict-json.ts";
import { type PermissionPattern, permissionPattern } from "./permission.ts";
import { isTokenHash, isTokenId } from "./token.ts";

/** The maximum size of a token file in bytes. */
export const MAX_TOKEN_FILE_BYTES = 4 * 1024 * 1024;
const MAX_TOKENS = 10_000;
const VERSION = 1;

/** A token as the file stores it. */
export interface TokenEntry {
  /** The caller's name in the history of levels and in the audit log; unique in the file. */
  readonly name: string;
  /** The digits of the token that find its entry. */
  readonly id: string;
  /** SHA-256 of the whole token. */
  readonly hash: string;
  readonly permissions: readonly PermissionPattern[];
  /** Loggers at and below which levels may be seen and changed. Default: all. */
  readonly loggers?: readonly string[] | undefined;
  /** When the token was created, RFC 3339. */
  readonly created?: string | undefined;
  /** When the token expires, RFC 3339. Default: never. */
  readonly expires?: string | undefined;
}

interface TokenFile {
  readonly version: typeof VERSION;
  readonly tokens: readonly TokenEntry[];
}

/** Checks the name of a caller: short, and safe to print in a log. */
export const callerName = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && /^(?!\s)[^\p{C}\p{Zl}\p{Zp}]{1,128}(?<!\s)$/u.test(value)
    ? undefined
    : "must be a string of 1 to 128 printable characters",
);

/** Checks the name of a logger at and below which levels may be seen and changed. */
export const loggerPrefix = shaped({ kind: "text" }, (value) =>
  typeof value === "string" && /^[^\p{C}\p{Zl}\p{Zp}]{1,512}$/u.test(value) && !value.endsWith(".")
    ? undefined
    : "must be the name of a logger, such as orders.payment",
);

/** Checks a time of RFC 3339. */
export const timestamp: Check = (value) =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value) &&
  Number.isFinite(Date.parse(value))
    ? undefined
    : "must be a time such as 2027-01-31T00:00:00Z";

const FILE: Checks<TokenFile> = {
  version: (value) => (value === VERSION ? undefined : `must be ${VERSION}, the only supported version`),
  tokens: (value) =>
    Array.isArray(value) && value.length <= MAX_TOKENS ? undefined : `must be a list of at most ${MAX_TOKENS} tokens`,
};

const ENTRY: Checks<TokenEntry> = {
  name: callerName,
  id: (value) => (isTokenId(value) ? undefined : "must be the 12 digits after ca_ in the token"),
  hash: (value) => (isTokenHash(value) ? undefined : 'must be "sha256:" and 64 lower-case hexadecimal digits'),
  permissions: listOf(permissionPattern),
  loggers: (value) => (Array.isArray(value) && value.length === 0 ? "must not be empty" : listOf(loggerPrefix)(value)),
  created: timestamp,
  expires: timestamp,
};

/**
 * Decodes a token file.
 *
 * @throws ActuatorError INVALID_ARGUMENT that says what is wrong and where, and repeats no part of the file that could be secret
 */
export function decodeTokens(bytes: Uint8Array): readonly TokenEntry[] {
  const content = jsonOf(bytes);
  // On one line: the message becomes part of a sentence on the command line and in logs.
  refuseFaults(tokenFileFaults(content), "; ");
  return (content as TokenFile).tokens;
}

/** Encodes tokens as the content of a file. */
export function encodeTokens(tokens: readonly TokenEntry[]): string {
  return `${JSON.stringify({ version: VERSION, tokens } satisfies TokenFile, null, 2)}\n`;
}

function tokenFileFaults(content: unknown): OptionFault[] {
  const faults = optionFaults("the token file", content, FILE);
  if (faults.length > 0) return faults;
  const { version, tokens } = content as TokenFile;
  if (version === undefined || tokens === undefined) return [fault("the token file", "must have version and tokens")];
  const seen = { name: new Map<unknown, number>(), id: new Map<unknown, number>() };
  return tokens.flatMap((token, index) => entryFaults(token, index, seen));
}

function entryFaults(
  token: TokenEntry,
  index: number,
  seen: Readonly<Record<"name" | "id", Map<unknown, number>>>,
): OptionFault[] {
  const where = `tokens[${index}]`;
  const faults = optionFaults(where, token, ENTRY);
  if (!isRecord(token)) return faults;
  for (const key of ["name", "id", "hash", "permissions"] as const) {
    if (token[key] === undefined) faults.push(fault(where, `has no ${key}`));
  }
  for (const key of ["name", "id"] as const) {
    const earlier = seen[key].get(token[key]);
    if (earlier !== undefined) faults.push(fault(where, `has the same ${key} as tokens[${earlier}]`));
    else if (token[key] !== undefined) seen[key].set(token[key], index);
  }
  return faults;
}

function fault(field: string, message: string): OptionFault {
  return { field, reason: "INVALID_OPTION", message: `${field} ${message}` };
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

/**
 * Reads the tokens of a file. Returns undefined if the file does not exist.
 *
 * @throws ActuatorError INVALID_ARGUMENT if the file is not valid, and the errors of the file system
 */
export async function readTokens(path: string): Promise<readonly TokenEntry[] | undefined> {
  try {
    return decodeTokens(await readBounded(path, MAX_TOKEN_FILE_BYTES));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Replaces the tokens of a file atomically: a reader sees either the old or the new tokens. A new file is accessible to its owner only; an
 * existing one keeps its owner and mode. Concurrent edits run one after the other.
 *
 * @throws ActuatorError, and the errors of the file system
 */
export async function editTokens(
  path: string,
  change: (tokens: readonly TokenEntry[]) => readonly TokenEntry[],
): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const unlock = await lock(`${target}.lock`);
  try {
    const text = encodeTokens(change((await readTokens(target)) ?? []));
    // Never write a file that could not be read.
    decodeTokens(Buffer.from(text));
    await replaceFile(target, text, (file) => copyOwnerAndMode(target, file));
  } finally {
    await unlock();
  }
}

/** The application may run as another user than the administrator who edits the file. */
async function copyOwnerAndMode(path: string, file: FileHandle): Promise<void> {
  if (process.platform === "win32") return;
  const before = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (before === undefined) return;
  try {
    const { uid, gid, mode } = await before.stat();
    const own = await file.stat();
    if (uid !== own.uid || gid !== own.gid) await file.chown(uid, gid);
    await file.chmod(mode & 0o777);
  } finally {
    await before.close();
  }
}

const LOCK_TIMEOUT_MS = 5_000;
const LOCK_POLL_MS = 50;

/** Creates the lock file. Returns a function that removes it. */
async function lock(path: string): Promise<() => Promise<void>> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      const file = await open(path, "wx", OWNER_ONLY);
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (performance.now() > deadline) {
        const message = `${path} exists: another process is changing the tokens. Remove the file if none is.`;
        throw new ActuatorError("FAILED_PRECONDITION", "TOKEN_FILE_LOCKED", message);
      }
      await delay(LOCK_POLL_MS);
    }
  }
}
