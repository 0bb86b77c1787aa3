/** Milliseconds in each unit, the longest first, which is the order they are written in. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** The longest duration that is taken, about 10,000 years: what google.protobuf.Duration can say. */
const LONGEST_MS = 315_576_000_000_000;

const DURATION = /^(?:(?<d>\d+)d)?(?:(?<h>\d+)h)?(?:(?<m>\d+)m(?!s))?(?:(?<s>\d+)s)?(?:(?<ms>\d+)ms)?$/;

/** Reads `90s`, `10m`, `2h`, `1d`, `500ms` or a sum such as `1h30m`, as milliseconds; undefined for anything else. */
export function durationFromText(text: string): number | undefined {
  const groups = DURATION.exec(text)?.groups;
  if (groups === undefined || text === "") return undefined;
  const sum = Object.entries(UNITS).reduce((sum, [unit, size]) => sum + Number(groups[unit] ?? 0) * size, 0);
  return sum <= LONGEST_MS ? sum : undefined;
}

/** Writes a duration in its two greatest units, rounded down: `9m 58s`, `2h`, `1d 4h`, `500ms`; one that is over as `0s`. */
export function durationToText(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 1_000) return `${Math.ceil(milliseconds)}ms`;
  const shown: string[] = [];
  let rest = Math.max(0, Math.floor(milliseconds / 1_000)) * 1_000;
  for (const [unit, size] of Object.entries(UNITS).filter(([unit]) => unit !== "ms")) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) shown.push(`${count}${unit}`);
    else if (shown.length > 0) break;
    if (shown.length === 2) break;
  }
  return shown.join(" ") || "0s";
}
