import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** What a temporary file is called: its own name keeps two processes from writing into one. */
const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;

/** After how many milliseconds a temporary file is no longer taken for one that another process writes. */
const STALE_AFTER_MS = 60_000;

/** Only who runs the application may read what operators wrote. */
const MODE = 0o600;

/**
 * Puts `text` in the place of the file, all of it or nothing: whoever reads the file at any moment, and whoever reads it after
 * the process or the machine stopped at any moment, finds the old text or the new one.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    const file = await open(temporary, "wx", MODE);
    try {
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

/**
 * Makes sure that {@link replaceFile} will work, as far as that can be known, and clears away what writers left that were
 * killed.
 *
 * @throws the error of the file system
 */
export function prepareFolder(path: string): void {
  const temporary = temporaryOf(path);
  closeSync(openSync(temporary, "wx", MODE));
  rmSync(temporary);
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(path)}.`) || !TEMPORARY.test(name)) continue;
    const left = join(folder, name);
    const age = Date.now() - (statSync(left, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    if (age > STALE_AFTER_MS) rmSync(left, { force: true });
  }
}

/**
 * What is in the file; undefined where there is none, "too large" where it has more than `maxBytes`.
 *
 * @throws the error of the file system, and Error where it is no file
 */
export function readStored(path: string, maxBytes: number): Uint8Array | "too large" | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  // What is no file, such as a pipe, might never end.
  if (!found.isFile()) throw new Error("not a file");
  const file = openSync(path, "r");
  try {
    return fstatSync(file).size > maxBytes ? "too large" : readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Renames the file to one beside it that nothing overwrites, and answers its name. */
export function keepAside(path: string): string {
  const time = new Date().toISOString().replaceAll(":", "-");
  let kept = `${path}.kept-${time}`;
  for (let count = 2; existsSync(kept); count++) kept = `${path}.kept-${time}-${count}`;
  renameSync(path, kept);
  return kept;
}

function temporaryOf(path: string): string {
  return `${path}.${randomBytes(6).toString("hex")}.tmp`;
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
