import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ListSessionsRequest,
  type ListSessionsResponse,
  ListSessionsResponseSchema,
  type Session as SessionProto,
  SessionSchema,
} from "../../gen/actuator/v3/sessions_pb.ts";
import { accessTime, type Session } from "../../sessions/session.ts";
import type { Sessions } from "../../sessions/sessions.ts";
import { pageKeyFrom, pageSizeFrom, pageTokenFrom, stringWireBytes, takePage } from "./page.ts";

/** The default size of a page of all sessions. */
const DEFAULT_PAGE_SIZE = 100;

/**
 * Returns the requested page of one user's sessions, of at most `maxBytes` of protobuf.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a negative page size or a page token of another list, and the errors of the domain
 */
export async function listUserSessions(
  sessions: Sessions,
  request: ListSessionsRequest,
  maxBytes: number,
): Promise<ListSessionsResponse> {
  const found = await sessions.findByUsername(request.username, request);
  const response = sessionPage(found.sessions, request, maxBytes);
  response.partial = found.partial;
  if (request.includeTotal && !found.partial) response.totalSize = BigInt(found.sessions.length);
  return response;
}

/** Returns the requested page of all sessions, like {@link listUserSessions}. */
export async function listAllSessions(
  sessions: Sessions,
  request: ListSessionsRequest,
  maxBytes: number,
): Promise<ListSessionsResponse> {
  const { active, pageToken, includeTotal } = request;
  let pageSize = pageSizeFrom(request.pageSize, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  for (;;) {
    const page = await sessions.list({ pageSize, pageToken, active, includeTotal });
    const bytes = PAGE_BYTES + page.sessions.reduce((sum, session) => sum + sessionWireBytes(session), 0);
    if (bytes <= maxBytes || pageSize === 1) {
      return create(ListSessionsResponseSchema, {
        sessions: page.sessions.map(sessionToProto),
        nextPageToken: page.nextPageToken ?? "",
        partial: page.partial,
        ...(page.totalSize !== undefined && { totalSize: BigInt(page.totalSize) }),
      });
    }
    // Only the store can tell where its page ends: ask again for a shorter one.
    pageSize = Math.max(1, Math.floor((pageSize * maxBytes) / bytes / 2));
  }
}

/** The maximum number of sessions in one page. */
export const MAX_PAGE_SIZE = 1000;
/** The maximum of what a page has beside its sessions, in bytes. */
export const PAGE_BYTES = 1024;
/** Tags, lengths, times and the frame of a session. */
const FIXED_BYTES = 64;

/**
 * Returns the requested page of a list, of at most `maxBytes` of protobuf.
 *
 * @param sessions newest access first, as the domain orders them
 * @throws ActuatorError INVALID_ARGUMENT for a negative page size or a page token of another list
 */
export function sessionPage(
  sessions: readonly Session[],
  request: ListSessionsRequest,
  maxBytes: number,
): ListSessionsResponse {
  const filterKey = ["sessions", request.username, String(request.active ?? "")];
  const last = pageKeyFrom(filterKey, request.pageToken, ["number", "text"]);
  const size = pageSizeFrom(request.pageSize, MAX_PAGE_SIZE, MAX_PAGE_SIZE);
  const rest = last === undefined ? sessions : sessionsAfter(sessions, Number(last[0]), String(last[1]));
  const page = takePage(rest, { size, bytes: maxBytes - PAGE_BYTES }, sessionWireBytes);
  const end = page.elements.at(-1);
  return create(ListSessionsResponseSchema, {
    sessions: page.elements.map(sessionToProto),
    nextPageToken: page.more && end ? pageTokenFrom(filterKey, [accessTime(end), digest(end.id)]) : "",
  });
}

/**
 * Returns the sessions after the one with this access time and digest. If that one is gone, those of the same millisecond are included:
 * a session that is listed twice is better than one that is never listed.
 */
function sessionsAfter(sessions: readonly Session[], time: number, idDigest: string): readonly Session[] {
  const index = sessions.findIndex((session) => accessTime(session) === time && digest(session.id) === idDigest);
  return index >= 0 ? sessions.slice(index + 1) : sessions.filter((session) => accessTime(session) <= time);
}

/** Replaces an id in a page token: tokens are logged, and a raw id is a credential. */
function digest(id: string): string {
  return createHash("sha256").update(id).digest("base64url").slice(0, 12);
}

/** An upper bound of the bytes of a session in protobuf. */
export function sessionWireBytes(session: Session): number {
  const names = session.attributeNames.reduce((sum, name) => sum + stringWireBytes(name), 0);
  return stringWireBytes(session.id) + stringWireBytes(session.username ?? "") + names + FIXED_BYTES;
}

/** The maximum of a `google.protobuf.Duration` in seconds, ten thousand years. Its JSON form rejects more. */
const LONGEST_SECONDS = 315_576_000_000;

/** Converts a session. Leaves unset what its store does not know. */
export function sessionToProto(session: Session): SessionProto {
  const { creationTime, lastAccessedTime, maxInactiveInterval } = session;
  return create(SessionSchema, {
    id: session.id,
    attributeNames: [...session.attributeNames],
    ...(creationTime !== undefined && { creationTime: timestampFromMs(creationTime) }),
    ...(lastAccessedTime !== undefined && { lastAccessedTime: timestampFromMs(lastAccessedTime) }),
    ...(maxInactiveInterval !== undefined && { maxInactiveInterval: { seconds: secondsOf(maxInactiveInterval) } }),
    expired: session.expired,
    username: session.username ?? "",
  });
}

function secondsOf(interval: number): bigint {
  return BigInt(Math.max(-LONGEST_SECONDS, Math.min(Math.floor(interval), LONGEST_SECONDS)));
}
