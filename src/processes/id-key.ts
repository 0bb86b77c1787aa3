import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRuntimeFolder } from "./runtime-folder.ts";

const BYTES = 32;

/**
 * Returns the key by which all processes of this user show the same ids for the same sessions. It is kept in the file `key` beside their
 * sockets, which this user alone can read; if there is no place for it, the key is a new one.
 *
 * @param folder where it is kept; default: the folder of the sockets
 */
export function sharedIdKey(folder?: string): Buffer {
  const made = randomBytes(BYTES);
  try {
    const path = join(folder ?? openRuntimeFolder(), "key");
    return keyIn(path) ?? placed(made, path) ?? made;
  } catch {
    return made;
  }
}

/** Puts a key there whole, unless another process has been faster. Returns the one that is there. */
function placed(key: Buffer, path: string): Buffer | undefined {
  const own = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    writeFileSync(own, key, { mode: 0o600, flag: "wx" });
    linkSync(own, path);
  } catch {
    // The one that is there counts.
  } finally {
    rmSync(own, { force: true });
  }
  return keyIn(path);
}

function keyIn(path: string): Buffer | undefined {
  try {
    const key = readFileSync(path);
    return key.length === BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}
