import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { durationToText } from "../common/duration.ts";
import type { Session } from "../gen/actuator/v3/sessions_pb.ts";
import { printable } from "./printable.ts";
import { timeToText } from "./time.ts";

/** What the columns of a list and the lines of one session say. */
export const SESSION_TEXTS = {
  id: ({ id }: Session) => printable(id),
  user: ({ username }: Session) => printable(username),
  created: ({ creationTime }: Session) => (creationTime === undefined ? "unknown" : timeToText(creationTime)),
  lastUsed: ({ lastAccessedTime }: Session) =>
    lastAccessedTime === undefined ? "unknown" : timeToText(lastAccessedTime),
  ends,
  attributes: ({ attributeNames }: Session) => attributeNames.map(printable).join(", "),
} as const;

function ends({ expired, maxInactiveInterval, lastAccessedTime }: Session): string {
  if (expired) return "expired";
  if (maxInactiveInterval === undefined) return "unknown";
  const interval = durationMs(maxInactiveInterval);
  if (interval < 0) return "never";
  if (lastAccessedTime === undefined) return `after ${durationToText(interval)} unused`;
  return `in ${durationToText(timestampMs(lastAccessedTime) + interval - Date.now())}`;
}

/** `1 session`, `1,234 sessions`; `kind` stands before the word. */
export function sessionCount(count: number | bigint, kind = ""): string {
  return `${count.toLocaleString("en")} ${kind}${count === 1 || count === 1n ? "session" : "sessions"}`;
}
