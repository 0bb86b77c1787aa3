import type { Session } from "../../../sessions/session.ts";
import { sessionDigest } from "../../../sessions/session-id.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import { boundedCall } from "./bounded-call.ts";
import type { BetterAuthContext, BetterAuthInstance, Row } from "./instance.ts";
import type { BetterAuthSessionsSettings } from "./options.ts";
import { sessionOf } from "./session-row.ts";
import { userIdsOf, usernamesOf } from "./users.ts";

const IN_DATABASE = "`session: { storeSessionInDatabase: true }` keeps them in the database as well, where this works.";
const NO_LIST = `better-auth keeps its sessions in a secondary storage only, which cannot be listed. ${IN_DATABASE}`;
const NO_COLUMN =
  "better-auth keeps its sessions in a secondary storage only, which finds them by the user's id. Name a column of the " +
  'users in option `username` of betterAuthSessions, or "id" where better-auth has no database.';

/**
 * Sessions in a secondary storage alone. It finds them by token and by user; since a token shows nowhere, the port's id is
 * `<id of the user>:<id of the session>`, so that one session is found through its user.
 */
export function storageSessions(auth: BetterAuthInstance, settings: BetterAuthSessionsSettings): SessionStore {
  const { username, timeoutMs: timeout } = settings;
  // The storage's keys are tokens.
  const bounded = boundedCall(timeout, { bearer: true });
  const searchable = username === "id" || (typeof username === "string" && auth.options.database !== undefined);

  async function find(context: BetterAuthContext, id: string): Promise<Row | undefined> {
    const [userId, sessionId] = parts(id);
    if (sessionId === undefined) return undefined;
    return (await context.internalAdapter.listSessions(userId)).find((row) => idOf(row) === sessionId);
  }

  async function findByUsername(name: string) {
    const context = await auth.$context;
    const { ids, partial } = await userIdsOf(context, name, username as string);
    const found: Session[] = [];
    for (const userId of ids) {
      const rows = await context.internalAdapter.listSessions(userId);
      found.push(...rows.map((row) => sessionWithUser(row, name)));
    }
    return { sessions: found, partial };
  }

  return {
    kind: "better-auth",

    findById: (id) =>
      bounded(async () => {
        const context = await auth.$context;
        const row = await find(context, id);
        if (row === undefined) return undefined;
        const userId = String(row.userId);
        return sessionWithUser(row, (await usernamesOf(context, [userId], username)).get(userId));
      }),

    delete: (id) =>
      bounded(async () => {
        const context = await auth.$context;
        const row = await find(context, id);
        if (row === undefined) return false;
        await context.internalAdapter.deleteSession(String(row.token));
        return true;
      }),

    ...(searchable && { findByUsername: (name: string) => bounded(() => findByUsername(name)) }),
    limits: { list: NO_LIST, ...(!searchable && { findByUsername: NO_COLUMN }) },
  };
}

function sessionWithUser(row: Row, username: string | undefined): Session {
  return { ...sessionOf(row, username), id: `${encodeURIComponent(String(row.userId))}:${idOf(row)}` };
}

/** better-auth before 1.6 gives sessions of a secondary storage no id. */
function idOf({ id, token }: Row): string {
  return typeof id === "string" ? id : sessionDigest(String(token));
}

/** The ids of the user and of the session, the latter undefined where this is no such id. */
function parts(id: string): readonly [userId: string, sessionId: string | undefined] {
  const colon = id.indexOf(":");
  if (colon < 0) return [id, undefined];
  try {
    return [decodeURIComponent(id.slice(0, colon)), id.slice(colon + 1)];
  } catch {
    return [id, undefined];
  }
}
