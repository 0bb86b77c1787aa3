import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** The end of the name of a temporary file, which is unique, so that two processes never write to the same one. */
export const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;

/** Only the owner may read and write the file. */
export const OWNER_ONLY = 0o600;

/** The name of a temporary file beside `path`, another one each time. */
export function temporaryOf(path: string): string {
  return `${path}.${randomBytes(6).toString("hex")}.tmp`;
}

/**
 * Puts `text` in the place of the file, all of it or nothing: a reader at any moment, and a reader after
 * the process or the machine stopped at any moment, finds the old text or the new one.
 *
 * @param prepare called with the new, empty file, which only its owner can access
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

/** A new name is on the disk when its folder is. Windows has no equivalent. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
