import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** What `/proc/<pid>` says of a process (https://man7.org/linux/man-pages/man5/proc_pid_status.5.html). */
export interface ProcStatus {
  readonly pid: number;
  /** The process that this is a thread of; its own pid if it is a process. */
  readonly threadOf: number;
  /** `R`, `S`, `T`, `Z` … */
  readonly state: string;
  /** The user whose rights it has. */
  readonly uid: number;
  /** Its pid in each PID namespace that it is in, the outermost that this process can see first. */
  readonly pids: readonly number[];
  /** Whether SIGUSR1 is blocked, as by `--disable-sigusr1`. */
  readonly isBlocked: boolean;
  /** Whether the process handles SIGUSR1. If not, the signal would end it. */
  readonly isCaught: boolean;
}

/** SIGUSR1 is the tenth signal. */
const SIGUSR1_BIT = 1n << 9n;

/** Reads the status of a process, or undefined if there is none. */
export function procStatus(pid: number): ProcStatus | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return undefined;
  }
  const fields = new Map([...text.matchAll(/^(\w+):\s*(.*)$/gm)].map(([, key, value]) => [key, value!]));
  const numbers = (key: string) => (fields.get(key) ?? "").split(/\s+/).filter(Boolean).map(Number);
  const has = (mask: string) => (BigInt(`0x${fields.get(mask) || 0}`) & SIGUSR1_BIT) !== 0n;
  return {
    pid,
    threadOf: numbers("Tgid")[0] ?? pid,
    state: fields.get("State")?.charAt(0) ?? "?",
    uid: numbers("Uid")[1] ?? -1,
    pids: fields.has("NSpid") ? numbers("NSpid") : [pid],
    isBlocked: has("SigBlk"),
    isCaught: has("SigCgt"),
  };
}

/** The path of the program that a process runs, as it was when it was started. */
export function programOf(pid: number): string {
  return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "");
}

/** Whether it runs Node.js: by the name of its program, or of a thread that only Node.js has (from 24 on). */
export function isNode(pid: number, program: string): boolean {
  return /(^|\/)node(js)?[\d.-]*$/.test(program) || threadNames(pid).includes("SignalInspector");
}

function threadNames(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
    } catch {
      return "";
    }
  });
}

/** The words of its NODE_OPTIONS and of its command line, of which the last counts. */
export function nodeArguments(pid: number): readonly string[] {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const options = readFileSync(`/proc/${pid}/environ`, "utf8")
    .split("\0")
    .find((entry) => entry.startsWith("NODE_OPTIONS="));
  return [...(options?.slice("NODE_OPTIONS=".length).split(/\s+/) ?? []), ...words];
}
