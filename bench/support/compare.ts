import { join } from "node:path";
import { Child } from "./child.ts";
import type { Load, LoadResult, LoadRun } from "./load.ts";
import { median } from "./median.ts";
import type { Server } from "./server.ts";

/** What is compared, and beside what: two servers that do the same under the same load. */
export interface Comparison {
  readonly subject: Server;
  readonly beside: Server;
  readonly load: Load;
}

/** Medians over all rounds. Ratios are taken within each round, 1.1 meaning that the subject is a tenth better. */
export interface Compared {
  readonly requestsPerSecond: Figure;
  /** Processor time of the server's process for one request, in µs. */
  readonly cpu: Figure;
  readonly rounds: number;
}

export interface Figure {
  readonly subject: number;
  readonly beside: number;
  readonly ratio: number;
}

const warmUpSeconds = 9;
const roundSeconds = 1;
const rounds = 11;

/**
 * Warms both servers up until the compiler is done with them, then loads them in turn. Whatever else the machine does
 * meets both, so a ratio stays true where the figures do not.
 */
export async function compare({ subject, beside, load }: Comparison): Promise<Compared> {
  const loader = new Child(join(import.meta.dirname, "load.ts"));
  const measure = async (server: Server, seconds: number) => {
    const before = await server.usage();
    const result = await loader.ask<LoadResult>({ ...load, port: server.port, seconds } satisfies LoadRun);
    const after = await server.usage();
    return { speed: result.requests / result.seconds, cpu: (after.cpu - before.cpu) / result.requests };
  };
  try {
    for (const server of [subject, beside]) await measure(server, warmUpSeconds);
    const pairs = [];
    for (let round = 0; round < rounds; round++) {
      pairs.push({ subject: await measure(subject, roundSeconds), beside: await measure(beside, roundSeconds) });
    }
    return {
      requestsPerSecond: {
        subject: median(pairs.map((pair) => pair.subject.speed)),
        beside: median(pairs.map((pair) => pair.beside.speed)),
        ratio: median(pairs.map((pair) => pair.subject.speed / pair.beside.speed)),
      },
      cpu: {
        subject: median(pairs.map((pair) => pair.subject.cpu)),
        beside: median(pairs.map((pair) => pair.beside.cpu)),
        ratio: median(pairs.map((pair) => pair.beside.cpu / pair.subject.cpu)),
      },
      rounds,
    };
  } finally {
    await loader.end();
  }
}
