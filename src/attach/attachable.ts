import { readlinkSync, statSync } from "node:fs";
import { ActuatorError } from "../common/error.ts";
import { isNode, type ProcStatus, procStatus, programOf } from "./proc-status.ts";

/** How an operator does without attaching. */
const PRELOAD = "start it with node --import connect-actuator/auto instead";

/** Why a process cannot be attached to; undefined if this is no obstacle. */
type Obstacle = (status: ProcStatus, code: string) => string | undefined;

/** What is looked at before the signal, in this order. */
const OBSTACLES: readonly (readonly [reason: string, Obstacle])[] = [
  [
    "IS_THREAD",
    ({ pid, threadOf }) =>
      pid === threadOf ? undefined : `${pid} is a thread of process ${threadOf}: attach to ${threadOf}`,
  ],
  ["HAS_ENDED", ({ pid, state }) => (/[ZX]/.test(state) ? `process ${pid} has ended (it is a zombie)` : undefined)],
  [
    "ANOTHER_USER",
    ({ pid, uid }) =>
      uid === process.geteuid!()
        ? undefined
        : `process ${pid} belongs to the user with uid ${uid}: run the command as that user, such as with sudo -u '#${uid}'`,
  ],
  [
    "IN_CONTAINER",
    ({ pid, pids }) => {
      const inner = pids.at(-1);
      if (pids.length < 2) return undefined;
      return (
        `process ${pid} runs in a container, as its process ${inner}: run the command in there, such as ` +
        `docker exec <container> npx connect-actuator attach ${inner}, or kubectl exec <pod> -- npx connect-actuator attach ${inner}`
      );
    },
  ],
  [
    "NOT_READABLE",
    ({ pid }) => {
      try {
        readlinkSync(`/proc/${pid}/ns/net`);
        return undefined;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return `/proc/${pid} cannot be read (${code}), as after a change of user or of capabilities: ${PRELOAD}`;
      }
    },
  ],
  [
    "NOT_NODE",
    ({ pid }) => {
      const program = programOf(pid);
      return isNode(pid, program) ? undefined : `process ${pid} is not Node.js: it runs ${program}`;
    },
  ],
  [
    "STOPPED",
    ({ pid, state }) =>
      /[Tt]/.test(state) ? `process ${pid} is stopped: continue it first, with kill -CONT ${pid}` : undefined,
  ],
  [
    "INSPECTOR_DISABLED",
    ({ pid, isBlocked, isCaught }) => {
      if (isCaught && !isBlocked) return undefined;
      const why = isBlocked ? "as by --disable-sigusr1 or --permission" : "so SIGUSR1 would end it";
      return `the inspector of process ${pid} cannot be started, ${why}: ${PRELOAD}`;
    },
  ],
  [
    "OTHER_NETWORK",
    ({ pid }) =>
      readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync("/proc/self/ns/net")
        ? undefined
        : `process ${pid} has a network of its own: run the command in there, such as nsenter -n -t ${pid} connect-actuator attach ${pid}`,
  ],
  [
    "OTHER_FILES",
    ({ pid }, code) =>
      isSameFile(`/proc/${pid}/root${code}`, code)
        ? undefined
        : `process ${pid} does not see ${code}, as it has file systems of its own: run the command from a folder that it sees`,
  ],
];

/**
 * Requires that a process can be attached to, before anything is sent to it. It may still have a handler of its own for SIGUSR1, which
 * cannot be seen.
 *
 * @param code the path of the code that it will load
 * @throws ActuatorError FAILED_PRECONDITION, or NOT_FOUND, that says why not and what to do
 */
export function requireAttachable(pid: number, code: string): void {
  if (process.platform !== "linux") {
    const message = `attach needs /proc, which says whether a signal would end a process, and only Linux has it: ${PRELOAD}`;
    throw new ActuatorError("FAILED_PRECONDITION", "NOT_LINUX", message);
  }
  const status = procStatus(pid);
  if (status === undefined) {
    throw new ActuatorError(
      "NOT_FOUND",
      "NO_SUCH_PROCESS",
      `there is no process ${pid}: pgrep -a node lists those of Node.js`,
    );
  }
  for (const [reason, obstacle] of OBSTACLES) {
    const message = obstacle(status, code);
    if (message !== undefined) throw new ActuatorError("FAILED_PRECONDITION", reason, message);
  }
}

function isSameFile(path: string, other: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  const own = statSync(other);
  return found?.ino === own.ino && found.dev === own.dev;
}
