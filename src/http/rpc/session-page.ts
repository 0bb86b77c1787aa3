import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  type ListSessionsRequest,
  type ListSessionsResponse,
  ListSessionsResponseSchema,
} from "../../gen/actuator/v3/sessions_pb.ts";
import { accessTime, type Session } from "../../sessions/session.ts";
import { pageSizeFrom, stringWireBytes, takePage } from "./page.ts";
import { pageKeyFrom, pageTokenFrom } from "./page-token.ts";
import { sessionToProto } from "./session-proto.ts";

/** The greatest number of sessions in one page. */
export const MAX_PAGE_SIZE = 1000;
/** What a page takes besides its sessions, at most. */
export const PAGE_BYTES = 1024;
/** Tags, lengths, times and the frame of a session. */
const FIXED_BYTES = 64;

/**
 * The page of a user's sessions that is asked for, within `maxBytes` of protobuf.
 *
 * @param sessions newest access first, as the domain orders them
 * @throws ActuatorError INVALID_ARGUMENT for a negative page size or a page token of another list.
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
 * What follows the session of this access time and digest. Where it is gone, everything of the same millisecond follows:
 * better one twice than one never.
 */
function sessionsAfter(sessions: readonly Session[], time: number, idDigest: string): readonly Session[] {
  const index = sessions.findIndex((session) => accessTime(session) === time && digest(session.id) === idDigest);
  return index >= 0 ? sessions.slice(index + 1) : sessions.filter((session) => accessTime(session) <= time);
}

/** Stands for an id in a page token: a token ends up in logs, and an id that is shown as it is lets its holder in. */
function digest(id: string): string {
  return createHash("sha256").update(id).digest("base64url").slice(0, 12);
}

/** At least as many bytes as the session takes in protobuf. */
export function sessionWireBytes(session: Session): number {
  const names = session.attributeNames.reduce((sum, name) => sum + stringWireBytes(name), 0);
  return stringWireBytes(session.id) + stringWireBytes(session.username ?? "") + names + FIXED_BYTES;
}
