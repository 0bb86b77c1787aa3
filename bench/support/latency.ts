/** Microseconds that single calls took, sorted. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** One of the things that are measured beside each other; called with the number of the round. */
export type LatencySide = (round: number) => Promise<unknown>;

/**
 * Calls the sides in turn, one call at a time, so that whatever else the machine does meets all of them. A fifth of the
 * rounds more comes first and is not counted.
 */
export async function latencies(rounds: number, ...sides: readonly LatencySide[]): Promise<Latency[]> {
  const times = sides.map((): number[] => []);
  for (let round = -Math.ceil(rounds / 5); round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const began = performance.now();
      await side(round + Math.ceil(rounds / 5));
      if (round >= 0) times[index]!.push((performance.now() - began) * 1000);
    }
  }
  return times.map((taken) => {
    const sorted = taken.toSorted((a, b) => a - b);
    return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
  });
}

export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}
