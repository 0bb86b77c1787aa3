import type { Compared } from "./compare.ts";

/** Prints rows under a heading, numbers to the right, with two spaces between columns. */
export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = heading.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of [heading, ...rows]) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    );
    console.log(cells.join("  ").trimEnd());
  }
}

/** A ratio beside what it should reach: `0.94 of 0.90`, marked where it falls short. */
export function reached(ratio: number, reach: number): string {
  return `${ratio.toFixed(2)} of ${reach.toFixed(2)}${ratio < reach ? " short" : ""}`;
}

/** The columns of {@link comparisonRow}. A ratio of 1.1 means a tenth better than what stands beside. */
export const comparisonHeading: readonly string[] = ["", "requests/s", "beside", "ratio", "CPU µs", "beside", "ratio"];

export function comparisonRow(name: string, { requestsPerSecond, cpu }: Compared, reach: number): readonly string[] {
  return [
    name,
    requestsPerSecond.subject.toFixed(0),
    requestsPerSecond.beside.toFixed(0),
    reached(requestsPerSecond.ratio, reach),
    cpu.subject.toFixed(1),
    cpu.beside.toFixed(1),
    reached(cpu.ratio, reach),
  ];
}
