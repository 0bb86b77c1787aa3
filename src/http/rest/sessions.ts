import { ActuatorError } from "../../common/error.ts";
import { sessionFingerprint } from "../../operations/calls/session-fingerprint.ts";
import type { Sessions } from "../../sessions/sessions.ts";
import type { Operation } from "./operation.ts";
import { Refusal } from "./problem.ts";
import { requiredParameter } from "./query.ts";
import { Representation } from "./representation.ts";
import { sessionJson, sessionsJson } from "./sessions-json.ts";

/**
 * GET of a user's sessions; 404 without a body where the store cannot search by user, or not to its end: these bodies
 * cannot say that a list may be short, so that a short one would be taken for the whole.
 */
export function findSessions(sessions: Sessions): Operation {
  return {
    async run({ target, context }) {
      const username = requiredParameter(target.query, "username");
      context.subject = { username };
      const found = await sessions.findByUsername(username);
      if (found.partial) return { status: 404 };
      return { status: 200, representation: new Representation(sessionsJson(found.sessions)) };
    },
  };
}

/** GET of one session; 404 without a body where the store has none of this id, or it could not be found out. */
export function readSession(sessions: Sessions): Operation {
  return {
    async run({ parameter, context }) {
      context.subject = { session: sessionFingerprint(parameter) };
      const session = await sessions.find(parameter);
      if (session === undefined) return { status: 404 };
      return { status: 200, representation: new Representation(sessionJson(session)) };
    },
  };
}

/**
 * DELETE of one session; 204 whether there was one or not, and only where there is none afterwards. 404 without a body
 * where it could not be found out which session the id stands for. 501, with the reason, where the store must not be
 * changed from outside: the 404 that other routes answer then would read as "it is gone".
 */
export function deleteSession(sessions: Sessions): Operation {
  return {
    async run({ parameter, context }) {
      context.subject = { session: sessionFingerprint(parameter) };
      try {
        await sessions.delete(parameter);
      } catch (error) {
        if (error instanceof ActuatorError && error.code === "UNIMPLEMENTED") throw new Refusal(501, error.message);
        throw error;
      }
      return { status: 204 };
    },
  };
}
