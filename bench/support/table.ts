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

/** A multiple beside the one that it may be at most: `0.94 of 1.20`, marked if it is more. */
export function within(multiple: number, most: number): string {
  return `${multiple.toFixed(2)} of ${most.toFixed(2)}${multiple > most ? " over" : ""}`;
}
