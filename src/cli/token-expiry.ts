import { InvalidArgumentError } from "commander";
import { durationFromText } from "../common/duration.ts";

/** The last moment that RFC 3339 can write. */
const LAST = Date.parse("9999-12-31T23:59:59Z");

/** Reads when a token expires: after a duration from now on, or at a day or time in the future; a day begins in UTC. */
export function expiryOf(text: string): Date {
  const duration = durationFromText(text);
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const time = duration !== undefined ? Date.now() + duration : isTime ? Date.parse(text) : Number.NaN;
  if (time > Date.now() && time <= LAST) return new Date(time);
  throw new InvalidArgumentError(
    "Give a duration such as 90d, or a time to come such as 2027-01-31 or 2027-01-31T12:00:00Z.",
  );
}
