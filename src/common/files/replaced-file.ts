import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** What a temporary file is called: its own name keeps two processes from writing into one. */
export const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;

/** Only who made a file may read and write it. */
export const OWNER_ONLY = 0o600;

/** The name of a temporary file beside `path`, another one each time. */
export function temporaryOf(path: string): string {
  return `${path}.${randomBytes(6).toString("hex")}.tmp`;
}

/**
 * Puts `text` in the place of the file, all of it or nothing: a reader at any moment, and a reader after
 * the process or the machine stopped at any moment, finds the old text or the new one.
 *
 * @param prepare is given the new file, which is its owner's alone, before anything stands in it
 * @throws the error of the file system; then the old file is as it was
 */
export async function replaceFile(
  path: string,
  text: string,
  prepare?: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    const file = await open(temporary, "wx", OWNER_ONLY);
    try {
      await prepare?.(file);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** A new name in a folder is on the disk when the folder is. Windows has no such thing. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
