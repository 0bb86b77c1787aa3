import { setTimeout as wait } from "node:timers/promises";
import { ActuatorError } from "../common/error.ts";
import { isPortTaken, type ListeningPort, listeningPorts } from "./listening-ports.ts";
import { nodeArguments } from "./proc-status.ts";

/** An inspector that listens in a process. */
export interface Inspector {
  readonly port: ListeningPort;
  /** The URL of its WebSocket, which holds a random id. */
  readonly url: string;
  /** When it was found, on the clock of `performance.now()`. */
  readonly startTime: number;
}

/** How long an inspector may take to begin to listen, and to answer. */
const START_TIMEOUT_MS = 3_000;
const ANSWER_TIMEOUT_MS = 1_000;
const LOOK_MS = 5;

/** Where inspectors usually listen; at other ports only processes are asked whose command line speaks of one. */
const FIRST_PORT = 9229;
const LAST_USUAL_PORT = 9299;

/** Finds an inspector that is open already, as after `--inspect`. */
export async function openInspector(pid: number): Promise<Inspector | undefined> {
  const mentions = nodeArguments(pid).some((word) => /^--inspect(-brk|-wait)?(=|$)/.test(word));
  const isUsual = ({ port }: ListeningPort) => port >= FIRST_PORT && port <= LAST_USUAL_PORT;
  return firstInspector(listeningPorts(pid).filter((each) => mentions || isUsual(each)));
}

/**
 * Sends SIGUSR1, and waits for a new port of this very process.
 *
 * @throws ActuatorError FAILED_PRECONDITION (NO_INSPECTOR) if there is none
 */
export async function startInspector(pid: number): Promise<Inspector> {
  const before = new Set(listeningPorts(pid).map(({ address }) => address));
  process.kill(pid, "SIGUSR1");
  const inspector = await inTime(() => firstInspector(listeningPorts(pid).filter((each) => !before.has(each.address))));
  if (inspector !== undefined) return inspector;
  const port = inspectorPort(pid);
  const why = isPortTaken(port)
    ? `the port ${port}, where its inspector would listen, is taken: end what listens there (ss -ltnp sport = :${port}) and try again`
    : "the application has a handler of its own for SIGUSR1, which has run now: start it with node --import connect-actuator/auto instead";
  throw new ActuatorError("FAILED_PRECONDITION", "NO_INSPECTOR", `process ${pid} has started no inspector: ${why}`);
}

/** Waits until the process does not listen at this port any more. Returns whether it does not. */
export async function hasClosed(pid: number, { address }: ListeningPort): Promise<boolean> {
  return (await inTime(async () => (isListening(pid, address) ? undefined : true))) ?? false;
}

/** Looks until there is a result, for as long as an inspector may take. */
async function inTime<Result>(look: () => Promise<Result | undefined>): Promise<Result | undefined> {
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end; await wait(LOOK_MS)) {
    const result = await look();
    if (result !== undefined) return result;
  }
  return undefined;
}

function isListening(pid: number, address: string): boolean {
  try {
    return listeningPorts(pid).some((each) => each.address === address);
  } catch {
    // The process has ended.
    return false;
  }
}

async function firstInspector(ports: readonly ListeningPort[]): Promise<Inspector | undefined> {
  for (const port of ports) {
    const found = await inspectorAt(port);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function inspectorAt(port: ListeningPort): Promise<Inspector | undefined> {
  const startTime = performance.now();
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const [target] = (await (await fetch(`http://${port.address}/json/list`, { signal })).json()) as { id?: unknown }[];
    return typeof target?.id === "string" ? { port, url: `ws://${port.address}/${target.id}`, startTime } : undefined;
  } catch {
    return undefined;
  }
}

function inspectorPort(pid: number): number {
  const ports = nodeArguments(pid).map((word) => /^--(?:inspect|debug)-port=(?:.*:)?(\d+)$/.exec(word)?.[1]);
  return Number(ports.findLast((port) => port !== undefined) ?? FIRST_PORT);
}
