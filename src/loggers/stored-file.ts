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
import { basename, dirname, join } from "node:path";
import { OWNER_ONLY, TEMPORARY, temporaryOf } from "../common/files/replaced-file.ts";

/** After how many milliseconds a temporary file is no longer taken for one that another process writes. */
const STALE_AFTER_MS = 60_000;

/**
 * Makes sure that `replaceFile` will work, as far as that can be known, and clears away what writers left that were
 * killed.
 *
 * @throws the error of the file system
 */
export function prepareFolder(path: string): void {
  const temporary = temporaryOf(path);
  closeSync(openSync(temporary, "wx", OWNER_ONLY));
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
