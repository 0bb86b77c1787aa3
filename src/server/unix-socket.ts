import { once } from "node:events";
import { chmodSync, existsSync, linkSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { dirname, join } from "node:path";
import { ActuatorError } from "../common/error.ts";
import { isAbandoned, lookAt, removeUnchanged } from "../common/socket-file.ts";

/**
 * Listens on a Unix socket with these permissions. The socket is made in a folder that only this user can enter, gets its
 * permissions there, and then its name, so no other user can connect before. A umask would apply to every thread of the process,
 * and is not possible in a worker.
 *
 * @returns a function that removes the socket's file, unless another process has replaced it
 * @throws ActuatorError if another process answers there, or if there is something other than a socket
 */
export async function listenOnPath(
  server: Server,
  path: string,
  mode: number,
  signal: AbortSignal,
): Promise<() => void> {
  if (process.platform === "win32") {
    server.listen({ path });
    await once(server, "listening", { signal });
    return () => {};
  }
  await makeWay(path);
  signal.throwIfAborted();
  const folder = mkdtempSync(`${dirname(path)}/.`);
  const socket = join(folder, "s");
  try {
    server.listen({ path: socket, exclusive: true });
    await once(server, "listening", { signal });
    signal.throwIfAborted();
    chmodSync(socket, mode);
    const own = lookAt(socket)!;
    giveName(socket, path);
    return () => removeUnchanged(path, own);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A link, unlike a rename, never replaces another file. Not every file system can link sockets. */
function giveName(socket: string, path: string): void {
  try {
    linkSync(socket, path);
  } catch (error) {
    if (existsSync(path)) throw error;
    renameSync(socket, path);
  }
}

/** Removes the socket of a dead process. */
async function makeWay(path: string): Promise<void> {
  const found = lookAt(path);
  if (found === undefined) return;
  if (!found.isSocket()) {
    const message = `the path ${path} is taken by something else than a socket, which is left alone; choose another`;
    throw new ActuatorError("FAILED_PRECONDITION", "PATH_NOT_A_SOCKET", message, { field: "path" });
  }
  if (await isAbandoned(path)) removeUnchanged(path, found);
}
