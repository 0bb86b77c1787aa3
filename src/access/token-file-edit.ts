import { constants } from "node:fs";
import { type FileHandle, open, realpath, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { ActuatorError } from "../common/error.ts";
import { readBounded } from "../common/files/bounded-file.ts";
import { OWNER_ONLY, replaceFile } from "../common/files/replaced-file.ts";
import { decodeTokens, encodeTokens, MAX_TOKEN_FILE_BYTES, type TokenEntry } from "./token-file.ts";

const LOCK_PATIENCE_MS = 5_000;
const LOCK_POLL_MS = 50;

/**
 * The tokens of a file; undefined where there is no file.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a file with a fault, and the error of the file system
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
 * Puts other tokens in the place of those of a file, all of them or none: whoever reads the file at any moment finds the old
 * ones or the new ones. A new file is for its owner alone; one that was there keeps its owner and mode. Of several at once
 * each sees what the other did.
 *
 * @throws ActuatorError, and the error of the file system
 */
export async function editTokens(
  path: string,
  change: (tokens: readonly TokenEntry[]) => readonly TokenEntry[],
): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const unlock = await lock(`${target}.lock`);
  try {
    const text = encodeTokens(change((await readTokens(target)) ?? []));
    // What is written has to be what can be read.
    decodeTokens(Buffer.from(text));
    await replaceFile(target, text, (file) => likeBefore(target, file));
  } finally {
    await unlock();
  }
}

/** A file that an administrator changes is still to be read by the application that runs as somebody else. */
async function likeBefore(path: string, file: FileHandle): Promise<void> {
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

/** Nobody else changes the file until the answer is called. */
async function lock(path: string): Promise<() => Promise<void>> {
  const deadline = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    try {
      const file = await open(path, "wx", OWNER_ONLY);
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (performance.now() > deadline) {
        const message = `${path} is there: somebody else changes the tokens. Remove it if nobody does.`;
        throw new ActuatorError("FAILED_PRECONDITION", "TOKEN_FILE_LOCKED", message);
      }
      await delay(LOCK_POLL_MS);
    }
  }
}
