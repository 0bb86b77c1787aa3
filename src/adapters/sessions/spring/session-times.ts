/** What Spring keeps of a session's time, in milliseconds since the epoch and in seconds. */
export interface SessionTimes {
  readonly creationTime: number | undefined;
  readonly lastAccessedTime: number | undefined;
  /** Negative: it never expires. */
  readonly maxInactiveInterval: number | undefined;
}

/** The greatest distance from the epoch that a `Date` can have (ECMA-262, "Time Values and Time Range"). */
const FARTHEST = 8.64e15;

/** A time that can be shown; undefined for any other. */
export function timeOf(value: number | undefined): number | undefined {
  return value !== undefined && Math.abs(value) <= FARTHEST ? value : undefined;
}

/** A number of seconds as Spring has them, 32 bits; undefined for any other. */
export function intervalOf(value: number | undefined): number | undefined {
  return value === undefined || value !== (value | 0) ? undefined : value;
}

/** When the session expires, or expired; undefined where that is not known. */
export function expiryTime({ lastAccessedTime, maxInactiveInterval }: SessionTimes): number | undefined {
  if (maxInactiveInterval === undefined || lastAccessedTime === undefined) return undefined;
  return maxInactiveInterval < 0 ? Number.POSITIVE_INFINITY : lastAccessedTime + maxInactiveInterval * 1000;
}

/** As `MapSession.isExpired` of Spring. */
export function isExpired(times: SessionTimes, now: number): boolean {
  return (expiryTime(times) ?? Number.POSITIVE_INFINITY) <= now;
}
