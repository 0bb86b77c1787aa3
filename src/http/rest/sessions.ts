import { ActuatorError } from "../../common/error.ts";
import { sessionFingerprint } from "../../operations/calls/call-record.ts";
import type { Session } from "../../sessions/session.ts";
import type { Sessions } from "../../sessions/sessions.ts";
import type { Operation } from "./operation.ts";
import { Refusal } from "./problem.ts";
import { Representation } from "./representation.ts";
import { requiredParameter } from "./request-target.ts";

/**
 * GET of a user's sessions. 404 without a body if the store cannot search by user, or only partly: the body of the specification cannot
 * say that a list is incomplete.
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

/** GET of one session; 404 without a body if the store does not have it, or cannot tell. */
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
 * DELETE of one session. 204 whether it existed or not, once it is certain that it is gone. 404 without a body if it cannot be found out
 * which session the id means. 501, with the reason, if sessions of the store cannot be ended from outside: 404, as in other routes, would
 * read as "it is gone".
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

/** A session as section 2.5 of the specification shows it. */
export function sessionJson(session: Session): string {
  return JSON.stringify(fields(session));
}

/** The sessions of a user as section 2.6 shows them. */
export function sessionsJson(sessions: readonly Session[]): string {
  return JSON.stringify({ sessions: sessions.map(fields) });
}

/** Leaves out what is unknown and has no honest substitute. */
function fields(session: Session) {
  const { id, attributeNames, firstSeenTime, creationTime = firstSeenTime, maxInactiveInterval, expired } = session;
  return {
    id,
    attributeNames,
    creationTime: timestamp(creationTime),
    lastAccessedTime: timestamp(session.lastAccessedTime ?? creationTime),
    maxInactiveInterval: maxInactiveInterval === undefined ? undefined : Math.floor(maxInactiveInterval),
    expired,
  };
}

/** Always with milliseconds, unlike the JSON of protobuf. */
function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
