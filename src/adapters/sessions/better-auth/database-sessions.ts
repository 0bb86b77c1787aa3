import { ActuatorError } from "../../../common/error.ts";
import type { Session } from "../../../sessions/session.ts";
import type { SessionPage, SessionQuery, SessionSearch, SessionStore } from "../../../sessions/store.ts";
import { ScanLimit } from "../../kit/connect-session/scan.ts";
import {
  type BetterAuthContext,
  type BetterAuthInstance,
  type BetterAuthSessionOptions,
  type BetterAuthSettings,
  type Condition,
  type Row,
  sessionColumns,
  sessionOf,
  timeOf,
} from "./instance.ts";
import { rowPage } from "./row-pages.ts";
import { bounded, withoutValues } from "./storage-call.ts";
import { fitsId, userIdsOf, usernamesOf } from "./users.ts";

const SCAN_PAGE = 1_000;

/** Shows and ends the sessions in better-auth's table. */
export function databaseSessions(auth: BetterAuthInstance, settings: BetterAuthSettings): SessionStore {
  const { username, timeoutMs, scan = {} } = settings;
  const { maxSessions = 50_000 } = scan;
  const { secondaryStorage, session } = auth.options;
  const preserved =
    secondaryStorage !== undefined && (session as BetterAuthSessionOptions | undefined)?.preserveSessionInDatabase;

  async function sessionsOf(context: BetterAuthContext, rows: readonly Row[]): Promise<Session[]> {
    const ids = rows.map((row) => String(row.userId));
    const names = await usernamesOf(context, ids, username);
    return rows.map((row, at) => sessionOf(row, names.get(ids[at]!)));
  }

  async function findRow(context: BetterAuthContext, id: string, select: string[]): Promise<Row | undefined> {
    if (!fitsId(context, id)) return undefined;
    const where: Condition[] = [{ field: "id", value: id }];
    const row = await context.adapter.findOne({ model: "session", where, select });
    // A database may ignore case; an id is exact.
    return row !== null && String(row.id) === id ? row : undefined;
  }

  async function searched(context: BetterAuthContext, name: string, column: string): Promise<SessionSearch> {
    const { ids, partial } = await userIdsOf(context, name, column);
    if (ids.length === 0) return { sessions: [], partial };
    const rows = await context.adapter.findMany({
      model: "session",
      where: [{ field: "userId", operator: "in", value: [...ids] }],
      limit: maxSessions + 1,
      select: sessionColumns(context),
      sortBy: { field: "updatedAt", direction: "desc" },
    });
    const sessions = rows.slice(0, maxSessions).map((row) => sessionOf(row, name));
    return { sessions, partial: partial || rows.length > maxSessions };
  }

  async function scanned(context: BetterAuthContext, name: string): Promise<SessionSearch> {
    const scanLimit = new ScanLimit(scan);
    const sessions: Session[] = [];
    let next: string | undefined;
    do {
      const page = await rowPage(context, [], Math.min(SCAN_PAGE, scanLimit.left), next);
      const all = await sessionsOf(context, page.rows);
      sessions.push(...all.filter((session) => session.username === name));
      scanLimit.left -= page.rows.length;
      next = page.next;
    } while (next !== undefined && !scanLimit.reached());
    return { sessions, partial: next !== undefined };
  }

  return {
    kind: "better-auth",

    findById: (id) =>
      bounded(timeoutMs, async () => {
        const context = await auth.$context;
        const row = await findRow(context, id, sessionColumns(context));
        return row && (await sessionsOf(context, [row]))[0];
      }),

    findByUsername: (name) =>
      bounded(timeoutMs, async () => {
        const context = await auth.$context;
        return typeof username === "string" ? searched(context, name, username) : scanned(context, name);
      }),

    list: ({ limit, after, active }: SessionQuery): Promise<SessionPage> =>
      bounded(timeoutMs, async () => {
        const context = await auth.$context;
        const { rows, next } = await rowPage(context, activity(active), limit, after);
        return { sessions: await sessionsOf(context, rows), partial: false, next };
      }),

    count: ({ active }) =>
      bounded(timeoutMs, async () =>
        (await auth.$context).adapter.count({ model: "session", where: activity(active) }),
      ),

    async delete(id) {
      const row = await bounded(timeoutMs, async () => findRow(await auth.$context, id, ["id", "token", "expiresAt"]));
      if (row === undefined || (preserved && ended(row))) return false;
      await bounded(timeoutMs, async () => {
        const { internalAdapter } = await auth.$context;
        await withoutValues(() => internalAdapter.deleteSession(String(row.token)));
      });
      // better-auth reports nothing if it could not read the session, or if a hook refused.
      const left = await bounded(timeoutMs, async () => findRow(await auth.$context, id, ["id", "expiresAt"]));
      if (left !== undefined && !(preserved && ended(left))) throw refusedByHook();
      return true;
    },
  };
}

function refusedByHook(): ActuatorError {
  const message = "better-auth kept the session: a hook of the application (session.delete.before) refused to end it.";
  return new ActuatorError("FAILED_PRECONDITION", "SESSION_KEPT", message);
}

function activity(active: boolean | undefined): Condition[] {
  if (active === undefined) return [];
  return [{ field: "expiresAt", operator: active ? "gt" : "lte", value: new Date() }];
}

function ended(row: Row): boolean {
  const time = timeOf(row.expiresAt);
  return time !== undefined && time <= Date.now();
}
