import type { Duration } from "@bufbuild/protobuf/wkt";

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A duration in its largest whole unit, such as `4 s`, `12 min`, `3 d`. */
export function duration(ms: number): string {
  const [unit, name] = UNITS.find(([each]) => ms >= each) ?? UNITS.at(-1)!;
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}

/** A duration of the server in milliseconds. */
export function msOfDuration({ seconds, nanos }: Pick<Duration, "seconds" | "nanos">): number {
  return Number(seconds) * 1_000 + nanos / 1e6;
}

/** Milliseconds as a duration for the server. */
export function durationOf(ms: number): Pick<Duration, "seconds" | "nanos"> {
  return { seconds: BigInt(Math.floor(ms / 1_000)), nanos: (ms % 1_000) * 1e6 };
}
