import { ActuatorError } from "../common/error.ts";
import { descriptionFrom } from "./answered-description.ts";
import { LINES, type ProcessDescription } from "./description.ts";
import { answerTo } from "./line-client.ts";
import { findSockets, type ProcessSocket, removeIfAbandoned } from "./sockets.ts";

/** A process of this user that has an actuator. */
export interface ListedProcess extends ProcessSocket {
  /** What it says of itself; undefined if it did not. */
  readonly description?: ProcessDescription | undefined;
  /** Why there is no description, as the end of a sentence that begins with the process. */
  readonly fault?: string | undefined;
}

/** What {@link listProcesses} found. */
export interface ProcessList {
  /** Sorted by name, then by pid and thread; those without a description are last. */
  readonly processes: readonly ListedProcess[];
  /** Why sockets in a folder are left alone. */
  readonly faults: readonly string[];
}

/** How many processes are asked at a time. */
const MAX_CONCURRENT = 100;

/** Asks every process of this user that has a socket, and removes the sockets of those that have ended. */
export async function listProcesses(timeoutMs: number): Promise<ProcessList> {
  const { sockets, faults } = await findSockets();
  const processes: ListedProcess[] = [];
  for (let at = 0; at < sockets.length; at += MAX_CONCURRENT) {
    const some = sockets.slice(at, at + MAX_CONCURRENT).map((socket) => ask(socket, timeoutMs));
    processes.push(...(await Promise.all(some)).filter((each) => each !== undefined));
  }
  return { processes: processes.sort(inOrder), faults };
}

async function ask(socket: ProcessSocket, timeoutMs: number): Promise<ListedProcess | undefined> {
  try {
    const answer = await answerTo(socket.path, LINES.describe, timeoutMs);
    return { ...socket, description: descriptionFrom(answer, socket) };
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    if (error.reason === "PROCESS_GONE" && (await removeIfAbandoned(socket.path))) return undefined;
    return { ...socket, fault: error.message };
  }
}

function inOrder(a: ListedProcess, b: ListedProcess): number {
  if (a.description === undefined || b.description === undefined) {
    if (a.description !== b.description) return a.description === undefined ? 1 : -1;
  } else if (a.description.name !== b.description.name) return a.description.name < b.description.name ? -1 : 1;
  return a.pid - b.pid || a.thread - b.thread;
}
