import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** A time of the server in milliseconds since the epoch. */
export function msOf(time: Timestamp): number {
  return Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1e6);
}
