import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { now } from "../state/clock.ts";
import { duration } from "./duration.ts";
import { msOf } from "./timestamp.ts";

export { duration, msOf };

/** A time with its date, in UTC: `2026-11-22 02:51:44 UTC`. */
export function exact(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The time of a day, in the operator's time zone: `02:51:44`. */
export function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString("en-GB");
}

/** A time relative to the present, exact on hover: `12 min ago`. */
export function Ago({ time, suffix = " ago" }: { time: Timestamp; suffix?: string }) {
  const ms = msOf(time);
  return (
    <time dateTime={new Date(ms).toISOString()} title={exact(ms)}>
      {duration(now.value - ms)}
      {suffix}
    </time>
  );
}

/** The time left as a clock: `8:41`, `1:02:03`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const pad = (value: number) => String(value).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
}
