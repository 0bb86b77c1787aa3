const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** A count: `1,284`. */
export function count(value: number | bigint): string {
  return WHOLE.format(value);
}

/** A rate or part: `31.4`, and whole from 100 on. */
export function rate(value: number): string {
  return value >= 100 ? WHOLE.format(value) : FINE.format(value);
}

/** A count with its noun: `1 logger`, `3 loggers`. */
export function counted(value: number | bigint, noun: string): string {
  return `${count(value)} ${noun}${Number(value) === 1 ? "" : "s"}`;
}
