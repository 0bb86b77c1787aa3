import type { FuzzResult } from "./fuzz.ts";
import { MAX_CREATED } from "./fuzz-server-limits.ts";

const MB = 2 ** 20;
/** What may stay: loggers that callers made and the history of their levels, code that was compiled, caches. */
const MAX_HEAP_GROWTH = 12 * MB;
/** Buffers, of which nothing has to stay. */
const MAX_EXTERNAL_GROWTH = 6 * MB;

/** Everything that should not be so at the end of a run; empty where all is well. */
export function faults({ start, end, reports, lingering, forged }: FuzzResult): string[] {
  const zero = (["connections", "sessions", "streams", "watchers"] as const).filter((name) => end[name] !== 0);
  return [
    ...zero.map((name) => `${end[name]} ${name} left`),
    ...(end.descriptors !== start.descriptors
      ? [`descriptors: ${start.descriptors} before, ${end.descriptors} after`]
      : []),
    ...(end.heap - start.heap > MAX_HEAP_GROWTH
      ? [`heap: ${megabytes(start.heap)} before, ${megabytes(end.heap)} after`]
      : []),
    ...(end.external - start.external > MAX_EXTERNAL_GROWTH ? [`external: ${megabytes(end.external)}`] : []),
    ...(end.loggers - start.loggers > MAX_CREATED ? [`${end.loggers} loggers`] : []),
    ...forged.map((name) => `the logger ${name} came to be`),
    ...[...lingering].map(([kind, count]) => `${count} left open: ${kind}`),
    ...reports.map((text) => `reported: ${text}`),
  ];
}

/** The figures of a run, a line each. */
export function report({ seconds, canary, start, end, stall, kinds }: FuzzResult, inputs: number): string[] {
  const both = (name: "heap" | "external" | "rss") => `${name} ${megabytes(start[name])} → ${megabytes(end[name])}`;
  const count = (name: "descriptors" | "loggers" | "graphNodes") => `${name} ${start[name]} → ${end[name]}`;
  return [
    `${inputs} inputs of ${kinds.size} kinds in ${seconds.toFixed(1)} s, ${((end.cpu - start.cpu) / inputs).toFixed(0)} µs of the server's processor each`,
    `connections ${end.connections}, sessions ${end.sessions}, streams ${end.streams}, watchers ${end.watchers} left`,
    [count("descriptors"), count("loggers"), count("graphNodes"), both("heap"), both("external"), both("rss")].join(
      ", ",
    ),
    `a client in between: ${canary.answers} right answers, ${canary.watched} changes watched, the slowest after ${canary.slowest.toFixed(0)} ms`,
    `the server's longest stall ${stall.ms.toFixed(0)} ms, of which it worked ${stall.cpuMs.toFixed(0)} ms; ${end.audited} lines of audit`,
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(1)} MB`;
}
