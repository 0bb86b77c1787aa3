import { once } from "node:events";
import { type BigIntStats, lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";

/** Looks at what stands at a path; undefined if there is nothing. Links are not followed. */
export function lookAt(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Whether no process listens at a Unix socket any more: only then it refuses. After any other outcome there may be one. */
export async function isAbandoned(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
  } finally {
    socket.destroy();
  }
}

/** Removes a file unless another one has replaced it. Inode numbers are reused at once, modification times are not. */
export function removeUnchanged(path: string, { ino, dev, mtimeNs }: BigIntStats): void {
  const found = lookAt(path);
  if (found?.ino === ino && found.dev === dev && found.mtimeNs === mtimeNs) rmSync(path, { force: true });
}
