/** Milliseconds in each unit, in the order that a sum of them is written in. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

const DURATION = /^(?:(?<d>\d+)d)?(?:(?<h>\d+)h)?(?:(?<m>\d+)m(?!s))?(?:(?<s>\d+)s)?(?:(?<ms>\d+)ms)?$/;

/** Reads `10m`, `1h30m`, `500ms` or bare milliseconds, as milliseconds; undefined for anything else. */
export function millisecondsFrom(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const groups = text === "" ? undefined : DURATION.exec(text)?.groups;
  if (groups === undefined) return undefined;
  return Object.entries(UNITS).reduce((sum, [unit, size]) => sum + Number(groups[unit] ?? 0) * size, 0);
}
