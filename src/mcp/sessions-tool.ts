import { createHash } from "node:crypto";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { type Session, SessionsService } from "../gen/actuator/v3/sessions_pb.ts";
import { COUNT, described, FLAG, listOf, objectOf, TEXT, timeText, upTo } from "./schema.ts";
import type { Tool } from "./tool.ts";

/** Finds the sessions of a user. */
export const FIND_SESSIONS = {
  name: "find_sessions",
  title: "Find the sessions of a user",
  description:
    "Lists the HTTP sessions of a user, newest use first. A handle tells sessions apart, as in the audit log; it cannot be used to call the application, or to end a session.",
  services: [SessionsService],
  permissions: ["sessions:read"],
  writes: false,
  input: {
    username: { type: "string", minLength: 1, maxLength: 1_024, description: "The exact name of the user." },
    limit: upTo(100, 20, "The most sessions."),
  },
  required: ["username"],
  output: {
    sessions: listOf(
      objectOf({
        handle: TEXT,
        created: TEXT,
        lastUsed: TEXT,
        expiresAfterSeconds: described(
          COUNT,
          "Seconds without use after which it expires; missing if never or unknown.",
        ),
        expired: FLAG,
        attributeNames: listOf(TEXT),
      }),
    ),
    more: FLAG,
    partial: described(FLAG, "Whether the store could not be searched to its end."),
  },
  async run({ username, limit = 20 }, { clients, signal }) {
    const request = { username, pageSize: limit };
    const { sessions, nextPageToken, partial } = await clients(SessionsService).listSessions(request, { signal });
    return { sessions: sessions.map(sessionJson), more: nextPageToken !== "", partial };
  },
} satisfies Tool<{ username: string; limit?: number }>;

function sessionJson({ id, creationTime, lastAccessedTime, maxInactiveInterval, expired, attributeNames }: Session) {
  const seconds = maxInactiveInterval && Math.floor(durationMs(maxInactiveInterval) / 1_000);
  return {
    handle: handleOf(id),
    created: timeText(creationTime),
    lastUsed: timeText(lastAccessedTime),
    expiresAfterSeconds: seconds !== undefined && seconds >= 0 ? seconds : undefined,
    expired,
    attributeNames,
  };
}

/** The id may be a credential, if the application shows the ids of its store. The audit log names sessions the same way. */
function handleOf(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 12);
}
