import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isAbandoned, lookAt, removeUnchanged } from "../common/socket-file.ts";
import { folderFault, runtimeFolders } from "./runtime-folder.ts";
import { type Place, placeOf } from "./socket-name.ts";

/** The socket of a process, which may have ended. */
export interface ProcessSocket extends Place {
  readonly path: string;
}

/** The sockets of this user's processes, and the folders that are not looked into. */
export interface FoundSockets {
  readonly sockets: readonly ProcessSocket[];
  /** Why sockets in a folder are left alone, each a sentence that begins with its path. */
  readonly faults: readonly string[];
}

/** Finds the sockets in every folder that this user alone can enter. */
export async function findSockets(folders: readonly string[] = runtimeFolders()): Promise<FoundSockets> {
  const sockets: ProcessSocket[] = [];
  const faults: string[] = [];
  for (const folder of folders) {
    if (lookAt(folder) === undefined) continue;
    const fault = folderFault(folder);
    if (fault !== undefined) faults.push(`${folder} ${fault}: its sockets are left alone`);
    else sockets.push(...(await socketsIn(folder)));
  }
  return { sockets, faults };
}

async function socketsIn(folder: string): Promise<ProcessSocket[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name) => {
    const place = placeOf(name);
    const path = join(folder, name);
    return place !== undefined && lookAt(path)?.isSocket() ? [{ ...place, path }] : [];
  });
}

/** Removes a socket at which no process listens any more. Returns whether there is none. */
export async function removeIfAbandoned(path: string): Promise<boolean> {
  const found = lookAt(path);
  if (found === undefined) return true;
  if (!(await isAbandoned(path))) return false;
  try {
    removeUnchanged(path, found);
  } catch {
    // The file system may be read-only here.
  }
  return true;
}

/** The path of the socket at which a process, or a thread of it, listens; undefined if there is none. Abandoned ones are removed. */
export async function socketAt({ pid, thread }: Place): Promise<string | undefined> {
  const { sockets } = await findSockets();
  for (const each of sockets) {
    if (each.pid === pid && each.thread === thread && !(await removeIfAbandoned(each.path))) return each.path;
  }
  return undefined;
}

/** The most sockets that one start of an application asks. */
const MAX_SWEPT = 100;

/**
 * Removes sockets that processes have left which a signal ended. Processes that run are not asked: only sockets of pids that do not exist,
 * and those of earlier processes with the pid of this one.
 */
export async function sweepSockets(): Promise<void> {
  const { sockets } = await findSockets();
  const left = sockets.filter(({ pid }) => pid === process.pid || !exists(pid));
  for (const { path } of left.slice(0, MAX_SWEPT)) await removeIfAbandoned(path);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
