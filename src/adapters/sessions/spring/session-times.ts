import { LatestMap } from "../../../common/latest-map.ts";

/** The times that Spring keeps of a session, in milliseconds since the epoch and in seconds. */
export interface SessionTimes {
  readonly creationTime: number | undefined;
  readonly lastAccessedTime: number | undefined;
  /** Negative: it never expires. */
  readonly maxInactiveInterval: number | undefined;
}

/** The greatest distance from the epoch that a `Date` can have (ECMA-262, "Time Values and Time Range"). */
const FARTHEST = 8.64e15;

/** Returns the time if a `Date` can have it; otherwise undefined. */
export function timeOf(value: number | undefined): number | undefined {
  return value !== undefined && Math.abs(value) <= FARTHEST ? value : undefined;
}

/** Returns the seconds if they are an integer of 32 bits, as in Spring; otherwise undefined. */
export function intervalOf(value: number | undefined): number | undefined {
  return value === undefined || value !== (value | 0) ? undefined : value;
}

/** Returns when the session expires, or expired; undefined if unknown. */
export function expiryTime({ lastAccessedTime, maxInactiveInterval }: SessionTimes): number | undefined {
  if (maxInactiveInterval === undefined || lastAccessedTime === undefined) return undefined;
  return maxInactiveInterval < 0 ? Number.POSITIVE_INFINITY : lastAccessedTime + maxInactiveInterval * 1000;
}

/** Checks whether the session has expired, as `MapSession.isExpired` of Spring does. */
export function isExpired(times: SessionTimes, now: number): boolean {
  return (expiryTime(times) ?? Number.POSITIVE_INFINITY) <= now;
}

const MAX_REMEMBERED = 10_000;

/** Returns a function that remembers when this process first saw a session, for the last 10,000 sessions. */
export function firstSeenBy(clock: () => number): (id: string) => number {
  const timeById = new LatestMap<string, number>(MAX_REMEMBERED);
  return (id) => {
    const time = timeById.get(id) ?? clock();
    timeById.set(id, time);
    return time;
  };
}
