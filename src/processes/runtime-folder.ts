import { accessSync, constants, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ActuatorError } from "../common/error.ts";

const NAME = "connect-actuator";

/** The variable of the environment that names a folder below which all sockets are, and no other is looked into. */
const VARIABLE = "CONNECT_ACTUATOR_RUNTIME_DIR";

/** The path of a socket has at most 103 bytes on macOS and 107 on Linux, and its name up to 20: `/4194304-100000.sock`. */
const MAX_FOLDER_BYTES = (process.platform === "darwin" ? 103 : 107) - 20;

/**
 * The folders that may hold the sockets of this user's processes, the preferred one first: below `XDG_RUNTIME_DIR`
 * (https://specifications.freedesktop.org/basedir-spec/latest/), `/run/user/<uid>`, the folder for temporary files, `/dev/shm`. A
 * process takes the first that it can write to, so the processes of a user may use several of them. With
 * `CONNECT_ACTUATOR_RUNTIME_DIR`, only the folder below that one.
 */
export function runtimeFolders(
  env: NodeJS.ProcessEnv = process.env,
  uid: number | undefined = process.getuid?.(),
): readonly string[] {
  if (env[VARIABLE]) return [join(env[VARIABLE], NAME)];
  const ofUser = uid === undefined ? [] : [`/run/user/${uid}`];
  const shared = [tmpdir(), ...(process.platform === "linux" ? ["/tmp", "/dev/shm"] : [])];
  const own = [...(env.XDG_RUNTIME_DIR ? [env.XDG_RUNTIME_DIR] : []), ...ofUser];
  // In a folder that users share, the name says whose it is.
  const folders = [
    ...own.map((folder) => join(folder, NAME)),
    ...shared.map((folder) => join(folder, uid === undefined ? NAME : `${NAME}-${uid}`)),
  ];
  return [...new Set(folders)];
}

/**
 * Returns the first of these folders that this user alone can enter; it is made if it is missing.
 *
 * @throws ActuatorError FAILED_PRECONDITION (NO_RUNTIME_FOLDER) that says what is wrong with each.
 */
export function openRuntimeFolder(folders: readonly string[] = runtimeFolders()): string {
  const faults: string[] = [];
  for (const folder of folders) {
    if (Buffer.byteLength(folder) > MAX_FOLDER_BYTES) {
      faults.push(`${folder} is too long for the path of a socket`);
      continue;
    }
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") {
        faults.push(`${folder}: ${code}`);
        continue;
      }
    }
    const fault = folderFault(folder) ?? writeFault(folder);
    if (fault === undefined) return folder;
    faults.push(`${folder} ${fault}`);
  }
  const message = `no folder for the socket of this process: ${faults.join("; ")}; set ${VARIABLE} to a folder of this user`;
  throw new ActuatorError("FAILED_PRECONDITION", "NO_RUNTIME_FOLDER", message);
}

/** It may have been made before its file system became read-only, as in the image of a container. */
function writeFault(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch {
    return "cannot be written to";
  }
}

/** Why sockets in a folder cannot be trusted, as the rest of a sentence; undefined if they can: another user may have made it. */
export function folderFault(folder: string): string | undefined {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return "does not exist";
  if (!found.isDirectory()) return "is not a folder";
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (found.uid !== uid) return "belongs to another user";
  return (found.mode & 0o077) === 0 ? undefined : "can be entered by other users";
}
