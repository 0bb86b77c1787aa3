import { readFileSync, writeFileSync } from "node:fs";

/** What a server spent since it was asked last: processor time in µs, memory in bytes, the longest time without a turn in ms. */
export interface WatchCost {
  readonly cpu: number;
  /** The heap after a collection. */
  readonly heap: number;
  readonly rss: number;
  readonly peak: number;
  readonly stall: number;
}

let usage = process.cpuUsage();
let stall = 0;
let last = performance.now();

/** Notes how long the process has no turn. Called once by a server of watchers. */
export function watchStalls(): void {
  setInterval(() => {
    const now = performance.now();
    stall = Math.max(stall, now - last);
    last = now;
  }, 5);
}

export function watchCost(): WatchCost {
  const { user, system } = process.cpuUsage(usage);
  const peak = peakSinceLast();
  globalThis.gc?.();
  const { rss, heapUsed: heap } = process.memoryUsage();
  const answer = { cpu: user + system, heap, rss, peak, stall };
  forgetPeak();
  usage = process.cpuUsage();
  last = performance.now();
  stall = 0;
  return answer;
}

/** Linux keeps the peak of the resident memory, also of what lies between two turns: `man 5 proc_pid_clear_refs`. */
function forgetPeak(): void {
  if (process.platform === "linux") writeFileSync("/proc/self/clear_refs", "5");
}

function peakSinceLast(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1_024;
  return Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]) * 1_024;
}
