import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

/** A moment on the clock of whoever reads: `2026-10-01 14:32:10`. */
export function timeToText(time: Timestamp): string {
  const date = new Date(timestampMs(time));
  if (Number.isNaN(date.getTime())) return "?";
  const day = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(":")}`;
}

/** The same without the day where that is today. */
export function shortTimeToText(time: Timestamp, now = new Date()): string {
  const [day, clock] = timeToText(time).split(" ");
  const today = [now.getFullYear(), pad(now.getMonth() + 1), pad(now.getDate())].join("-");
  return day === today && clock !== undefined ? clock : timeToText(time);
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
