import { printable } from "../common/printable.ts";
import { didYouMean } from "../common/suggestion.ts";
import { type ListedProcess, listProcesses } from "../processes/process-list.ts";
import { type Place, placeText } from "../processes/socket-name.ts";
import { findSockets, socketAt } from "../processes/sockets.ts";
import { CliError, EXIT } from "./error.ts";
import { note } from "./output.ts";
import { NO_PROCESS, processLines } from "./process-table.ts";

/** The options that name a process. */
export interface ProcessOptions {
  readonly pid?: Place | undefined;
  readonly name?: string | undefined;
}

/** How long processes may take to describe themselves: one that is stopped does not hold the others up for longer. */
export const DESCRIBE_TIMEOUT_MS = 2_000;

const DEFAULT_URL = "http://127.0.0.1:9001";

/**
 * The address of the process that `--pid` or `--name` names. With neither, the only process of this user, or the default address if
 * there is none.
 *
 * @throws CliError if there is no such process, or if several are meant.
 */
export async function addressOf({ pid, name }: ProcessOptions, timeoutMs = DESCRIBE_TIMEOUT_MS): Promise<string> {
  if (pid !== undefined) return `unix:${await socketOf(pid)}`;
  const { processes } = await listProcesses(Math.min(timeoutMs, DESCRIBE_TIMEOUT_MS));
  if (name !== undefined) return `unix:${only(namedProcesses(processes, name), "name", name)}`;
  return processes.length === 0 ? DEFAULT_URL : `unix:${only(processes, "any")}`;
}

/** An actuator among several: how it is called in the output, and its address. */
export interface NamedAddress {
  readonly label: string;
  readonly url: string;
}

/**
 * The addresses of all processes and threads with a name.
 *
 * @throws CliError if there are none.
 */
export async function addressesOf(name: string, timeoutMs = DESCRIBE_TIMEOUT_MS): Promise<readonly NamedAddress[]> {
  const { processes } = await listProcesses(Math.min(timeoutMs, DESCRIBE_TIMEOUT_MS));
  return namedProcesses(processes, name).map((each) => ({ label: placeText(each), url: `unix:${each.path}` }));
}

/**
 * The path of the socket of a process.
 *
 * @throws CliError if it has none.
 */
export async function socketOf(place: Place): Promise<string> {
  const path = await socketAt(place);
  if (path !== undefined) return path;
  const { sockets } = await findSockets();
  const others = sockets.filter(({ pid, thread }) => pid === place.pid && thread !== place.thread).map(placeText);
  const hint =
    others.length > 0
      ? `known are ${others.join(", ")}`
      : `connect-actuator ps lists those that have, connect-actuator attach ${place.pid} adds one`;
  throw new CliError(EXIT.unreachable, `${placeText(place)} is no process of this user with an actuator: ${hint}`);
}

function namedProcesses(processes: readonly ListedProcess[], name: string): readonly ListedProcess[] {
  const named = processes.filter(({ description }) => description?.name === name);
  if (named.length > 0) return named;
  const names = new Set(processes.flatMap(({ description }) => description?.name ?? []));
  const hint = names.size === 0 ? NO_PROCESS : printable(didYouMean(name, [...names], "names"));
  throw new CliError(EXIT.unreachable, `no process is named ${printable(name)}: ${hint}`);
}

/**
 * The socket of the one process that is meant; of several threads of one process, that of the main thread.
 *
 * @throws CliError if several are meant, or if it does not answer.
 */
function only(processes: readonly ListedProcess[], by: "any" | "name", name = ""): string {
  const isOne = processes.every(({ pid }) => pid === processes[0]!.pid);
  const found = isOne && (processes.length === 1 ? processes[0] : processes.find(({ thread }) => thread === 0));
  if (!found) {
    const what =
      by === "any"
        ? "several processes of this user have an actuator: say which with --pid or --name"
        : `several processes are named ${printable(name)}: say which with --pid`;
    throw new CliError(EXIT.usage, [what, ...processLines(processes)].join("\n  "));
  }
  if (found.fault !== undefined) throw new CliError(EXIT.unreachable, `process ${placeText(found)} ${found.fault}`);
  const others = processes.filter((each) => each !== found).map(placeText);
  if (others.length > 0) note(`only the main thread of ${found.pid}; --pid names the others: ${others.join(", ")}`);
  return found.path;
}
