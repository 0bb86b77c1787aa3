import type { Sessions } from "../sessions/sessions.ts";
import type { Operation } from "./operation.ts";
import { requiredParameter } from "./query.ts";
import { Representation } from "./representation.ts";
import { sessionJson, sessionsJson } from "./sessions-json.ts";

/** GET of a user's sessions; 404 without a body where the store cannot search by user. */
export function findSessions(sessions: Sessions): Operation {
  return {
    async run({ target }) {
      const found = await sessions.findByUsername(requiredParameter(target.query, "username"));
      return { status: 200, representation: new Representation(sessionsJson(found)) };
    },
  };
}

/** GET of one session; 404 without a body where the store has none of this id. */
export function readSession(sessions: Sessions): Operation {
  return {
    async run({ parameter }) {
      const session = await sessions.find(parameter);
      if (session === undefined) return { status: 404 };
      return { status: 200, representation: new Representation(sessionJson(session)) };
    },
  };
}

/** DELETE of one session; whether there was one makes no difference. */
export function deleteSession(sessions: Sessions): Operation {
  return {
    async run({ parameter }) {
      await sessions.delete(parameter);
      return { status: 204 };
    },
  };
}
