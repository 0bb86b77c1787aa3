import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ActuatorError } from "../error.ts";
import {
  DeleteSessionResponseSchema,
  GetSessionResponseSchema,
  type SessionsService,
} from "../gen/actuator/v3/sessions_pb.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { sessionPage } from "./session-page.ts";
import { sessionToProto } from "./session-proto.ts";

/** `actuator.v3.SessionsService` over the sessions. A list takes at most `maxBytes` of protobuf in one page. */
export function sessionsService(sessions: Sessions, maxBytes: number): Partial<ServiceImpl<typeof SessionsService>> {
  return {
    async listSessions(request) {
      if (request.username === "") {
        const message = "Sessions are listed by user: give a username.";
        throw new ActuatorError("UNIMPLEMENTED", "LIST_ALL_UNSUPPORTED", message, { field: "username" });
      }
      return sessionPage(await sessions.findByUsername(request.username), request, maxBytes);
    },

    async getSession({ id }) {
      const session = await sessions.find(id);
      if (session === undefined) {
        // The id stays out of the message: an id that is unknown here may be a credential elsewhere.
        throw new ActuatorError("NOT_FOUND", "SESSION_NOT_FOUND", "No session has this id.", { field: "id" });
      }
      return create(GetSessionResponseSchema, { session: sessionToProto(session) });
    },

    async deleteSession({ id }) {
      return create(DeleteSessionResponseSchema, { existed: await sessions.delete(id) });
    },
  };
}
