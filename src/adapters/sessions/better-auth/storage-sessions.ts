import type { Session } from "../../../sessions/session.ts";
import { sessionDigest } from "../../../sessions/session-id.ts";
import type { SessionStore } from "../../../sessions/store.ts";
import {
  type BetterAuthContext,
  type BetterAuthInstance,
  type BetterAuthSettings,
  type Row,
  sessionOf,
} from "./instance.ts";
import { bounded, withoutValues } from "./storage-call.ts";
import { userIdsOf, usernamesOf } from "./users.ts";

const IN_DATABASE =
  "`session: { storeSessionInDatabase: true }` keeps them in the database as well, which can be listed.";
const NO_LIST = `better-auth keeps its sessions in a secondary storage only, which cannot be listed. ${IN_DATABASE}`;
const NO_COLUMN =
  "better-auth keeps its sessions in a secondary storage only, which finds them by the user's id. Set username of " +
  'betterAuthSessions to a column of the users, or to "id" if better-auth has no database.';

/**
 * Shows and ends sessions that are in a secondary storage only. It finds them by token and by user; since tokens are never
 * shown, the id is `<id of the user>:<id of the session>`, so that a session is found through its user.
 */
export function storageSessions(auth: BetterAuthInstance, settings: BetterAuthSettings): SessionStore {
  const { username, timeoutMs } = settings;
  // The storage's keys are tokens.
  const guarded = <T>(work: () => Promise<T>) => bounded(timeoutMs, () => withoutValues(work));
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
      guarded(async () => {
        const context = await auth.$context;
        const row = await find(context, id);
        if (row === undefined) return undefined;
        const userId = String(row.userId);
        return sessionWithUser(row, (await usernamesOf(context, [userId], username)).get(userId));
      }),

    delete: (id) =>
      guarded(async () => {
        const context = await auth.$context;
        const row = await find(context, id);
        if (row === undefined) return false;
        await context.internalAdapter.deleteSession(String(row.token));
        return true;
      }),

    ...(searchable && { findByUsername: (name: string) => guarded(() => findByUsername(name)) }),
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

/** Splits an id into those of the user and of the session; the latter is undefined for any other id. */
function parts(id: string): readonly [userId: string, sessionId: string | undefined] {
  const colon = id.indexOf(":");
  if (colon < 0) return [id, undefined];
  try {
    return [decodeURIComponent(id.slice(0, colon)), id.slice(colon + 1)];
  } catch {
    return [id, undefined];
  }
}
