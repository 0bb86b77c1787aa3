import type { FuzzResult } from "./fuzz.ts";
import { MAX_CREATED } from "./fuzz-server-limits.ts";

const MB = 2 ** 20;
/** What may stay: loggers that callers made and the history of their levels, code that was compiled, caches. */
const MAX_HEAP_GROWTH = 12 * MB;
/** Buffers, of which nothing has to stay. */
const MAX_EXTERNAL_GROWTH = 6 * MB;
/** What the allocator keeps of memory that was freed, and V8 of code that it compiled: docs/operation.md has the figures. */
const MAX_RESIDENT_GROWTH = 100 * MB;
/** From the middle to the end, when all of that is there: more would be a leak that no heap shows. */
const MAX_LATER_RESIDENT_GROWTH = 30 * MB;

/** Everything that should not be so at the end of a run; empty where all is well. */
export function faults({ start, middle, end, reports, lingering, forged }: FuzzResult): string[] {
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
    ...(end.resident - start.resident > MAX_RESIDENT_GROWTH
      ? [`resident: ${megabytes(start.resident)} before, ${megabytes(end.resident)} after`]
      : []),
    ...(end.resident - middle.resident > MAX_LATER_RESIDENT_GROWTH
      ? [`resident: ${megabytes(middle.resident)} after half of it, ${megabytes(end.resident)} after all`]
      : []),
    ...(end.loggers - start.loggers > MAX_CREATED ? [`${end.loggers} loggers`] : []),
    ...forged.map((name) => `the logger ${name} came to be`),
    ...[...lingering].map(([kind, count]) => `${count} left open: ${kind}`),
    ...reports.map((text) => `reported: ${text}`),
  ];
}

/** The figures of a run, a line each. */
export function report({ seconds, canary, start, middle, end, stall, kinds }: FuzzResult, inputs: number): string[] {
  const bytes = (name: "heap" | "external" | "resident") =>
    `${name} ${[start, middle, end].map((held) => megabytes(held[name])).join(" → ")}`;
  const count = (name: "descriptors" | "loggers" | "graphNodes") => `${name} ${start[name]} → ${end[name]}`;
  return [
    `${inputs} inputs of ${kinds.size} kinds in ${seconds.toFixed(1)} s, ${((end.cpu - start.cpu) / inputs).toFixed(0)} µs of the server's processor each`,
    `connections ${end.connections}, sessions ${end.sessions}, streams ${end.streams}, watchers ${end.watchers} left`,
    [
      count("descriptors"),
      count("loggers"),
      count("graphNodes"),
      bytes("heap"),
      bytes("external"),
      bytes("resident"),
    ].join(", "),
    `a client in between: ${canary.answers} right answers, ${canary.watched} changes watched, the slowest after ${canary.slowest.toFixed(0)} ms`,
    `the server's longest stall ${stall.ms.toFixed(0)} ms, of which it worked ${stall.cpuMs.toFixed(0)} ms; ${end.audited} lines of audit`,
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(1)} MB`;
}
