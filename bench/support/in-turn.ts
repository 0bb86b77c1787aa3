import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "./child.ts";
import type { Load, LoadResult, LoadStart } from "./load.ts";
import { median } from "./median.ts";
import type { Server } from "./server.ts";

/** A server under a load. */
export interface Contestant {
  readonly server: Server;
  readonly load: Load;
}

/** How long is measured. */
export interface Plan {
  /** How long each contestant is loaded at first, so that the compiler is done with it. */
  readonly warmUpSeconds: number;
  readonly roundSeconds: number;
  readonly rounds: number;
}

/** What the rounds of one contestant showed. */
export interface Measured {
  /** Processor time of the server's process for one request in µs, by round. */
  readonly cpu: readonly number[];
  readonly requestsPerSecond: readonly number[];
}

/**
 * Loads all contestants in turn, round by round. Whatever else the machine does meets all of them, so a ratio within a round stays
 * true where the figures do not.
 */
export async function measureInTurn(contestants: readonly Contestant[], plan: Plan): Promise<readonly Measured[]> {
  const loader = new Child(join(import.meta.dirname, "load.ts"));
  const measured = contestants.map(() => ({ cpu: [] as number[], requestsPerSecond: [] as number[] }));
  try {
    for (let round = -1; round < plan.rounds; round++) {
      for (const [index, { server, load }] of contestants.entries()) {
        await loader.ask({ ...load, port: server.port } satisfies LoadStart);
        const before = await server.usage();
        await sleep((round < 0 ? plan.warmUpSeconds : plan.roundSeconds) * 1_000);
        const { requests, seconds } = await loader.ask<LoadResult>("stop" as never);
        const after = await server.usage();
        if (round < 0) continue;
        measured[index]!.cpu.push((after.cpu - before.cpu) / requests);
        measured[index]!.requestsPerSecond.push(requests / seconds);
      }
    }
    return measured;
  } finally {
    await loader.end();
  }
}

/** The median of the ratios of two contestants' rounds: 2.00 means that the first one takes twice the processor time. */
export function cpuRatio(subject: Measured, beside: Measured): number {
  return median(subject.cpu.map((cpu, round) => cpu / beside.cpu[round]!));
}
