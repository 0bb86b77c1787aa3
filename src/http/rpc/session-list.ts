import { create } from "@bufbuild/protobuf";
import {
  type ListSessionsRequest,
  type ListSessionsResponse,
  ListSessionsResponseSchema,
} from "../../gen/actuator/v3/sessions_pb.ts";
import type { Sessions } from "../../sessions/sessions.ts";
import { pageSizeFrom } from "./page.ts";
import { MAX_PAGE_SIZE, PAGE_BYTES, sessionPage, sessionWireBytes } from "./session-page.ts";
import { sessionToProto } from "./session-proto.ts";

/** The size of a page of all sessions that asks for none. */
const DEFAULT_PAGE_SIZE = 100;

/**
 * The page of one user's sessions that is asked for, within `maxBytes` of protobuf.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a negative page size or a page token of another list, and what the domain throws.
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

/** The page of all sessions that is asked for, as {@link listUserSessions}. */
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
    // Where the store's page ends only the store can say: what is too long is asked for again, shorter.
    pageSize = Math.max(1, Math.floor((pageSize * maxBytes) / bytes / 2));
  }
}
