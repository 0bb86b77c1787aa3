import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { requirePermission } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import {
  DeleteSessionResponseSchema,
  DeleteUserSessionsResponseSchema,
  GetSessionResponseSchema,
  type SessionsService,
} from "../../gen/actuator/v3/sessions_pb.ts";
import { sessionFingerprint } from "../../operations/calls/call-record.ts";
import type { Sessions } from "../../sessions/sessions.ts";
import { callerOf, requestContextOf } from "./calls/call-context.ts";
import { listAllSessions, listUserSessions, sessionToProto } from "./session-list.ts";

/** Implements `actuator.v3.SessionsService`. A page of a list has at most `maxBytes` of protobuf. */
export function sessionsService(sessions: Sessions, maxBytes: number): ServiceImpl<typeof SessionsService> {
  return {
    listSessions(request, { values }) {
      const { username } = request;
      requestContextOf(values).subject = { username: username || undefined };
      const permission = username === "" ? "sessions:list" : "sessions:read";
      requestContextOf(values).permission = permission;
      requirePermission(callerOf(values), permission);
      const list = username === "" ? listAllSessions : listUserSessions;
      return list(sessions, request, maxBytes);
    },

    async getSession({ id }, { values }) {
      requestContextOf(values).subject = { session: sessionFingerprint(id) };
      const session = await sessions.find(id);
      if (session === undefined) {
        // The message must not repeat the id, which may be a credential elsewhere.
        throw new ActuatorError("NOT_FOUND", "SESSION_NOT_FOUND", "No session has this id.", { field: "id" });
      }
      return create(GetSessionResponseSchema, { session: sessionToProto(session) });
    },

    async deleteSession({ id }, { values }) {
      requestContextOf(values).subject = { session: sessionFingerprint(id) };
      return create(DeleteSessionResponseSchema, { existed: await sessions.delete(id) });
    },

    async deleteUserSessions({ username, exceptId }, { values }) {
      requestContextOf(values).subject = { username };
      return create(DeleteUserSessionsResponseSchema, await sessions.deleteByUsername(username, exceptId || undefined));
    },
  };
}
