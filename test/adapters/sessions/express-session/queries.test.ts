import { DatabaseSync } from "node:sqlite";
import { type SessionData, Store } from "express-session";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type ExpressSessionsOptions,
  expressSessions,
  type QueriedSession,
} from "../../../../src/adapters/sessions/express-session/index.ts";
import { fastifySessions } from "../../../../src/adapters/sessions/fastify/index.ts";
import { Sessions } from "../../../../src/sessions/sessions.ts";

type Callback<T> = (error?: unknown, result?: T) => void;

/** A store as better-sqlite3-session-store is: in a table, and with an `all` that gives no ids. */
class SqliteStore extends Store {
  readonly db = new DatabaseSync(":memory:");
  constructor() {
    super();
    this.db.exec("CREATE TABLE sessions (sid TEXT PRIMARY KEY, sess JSON NOT NULL, expire TEXT NOT NULL)");
    this.db.exec("CREATE INDEX sessions_user ON sessions (sess ->> '$.user.username')");
  }
  override get(id: string, callback: Callback<SessionData | null>): void {
    const row = this.db.prepare("SELECT sess FROM sessions WHERE sid = ?").get(id);
    callback(null, row === undefined ? null : JSON.parse(String(row.sess)));
  }
  override set(id: string, data: SessionData, callback?: Callback<never>): void {
    const sql = "INSERT INTO sessions VALUES (?, ?, '') ON CONFLICT (sid) DO UPDATE SET sess = excluded.sess";
    this.db.prepare(sql).run(id, JSON.stringify(data));
    callback?.();
  }
  override destroy(id: string, callback?: Callback<never>): void {
    this.db.prepare("DELETE FROM sessions WHERE sid = ?").run(id);
    callback?.();
  }
  override all = (callback: Callback<never>): void => {
    callback(
      null,
      this.db
        .prepare("SELECT sess FROM sessions")
        .all()
        .map(({ sess }) => JSON.parse(String(sess))) as never,
    );
  };
}

function shop(options: (store: SqliteStore) => ExpressSessionsOptions) {
  const store = new SqliteStore();
  onTestFinished(() => store.db.close());
  for (const [id, username] of [
    ["a1", "alice"],
    ["a2", "alice"],
    ["b1", "bob"],
    ["b2", "alicea"],
  ]) {
    store.set(id!, { cookie: { originalMaxAge: null }, user: { username } } as never);
  }
  const sessions = new Sessions(expressSessions(store, options(store)), { ids: "raw" });
  return { store, sessions };
}

const ids = (sessions: readonly { readonly id: string }[]) => sessions.map(({ id }) => id).sort();

const pairs = (rows: readonly Record<string, unknown>[]) =>
  rows.map(({ sid, sess }): QueriedSession => [String(sid), sess]);
const ALL = "SELECT sid, sess FROM sessions";

/** What an application may return. */
const LISTS: Record<string, (store: SqliteStore) => ExpressSessionsOptions["list"]> = {
  "an array": (store) => () => pairs(store.db.prepare(ALL).all()),
  "a promise": (store) => async () => pairs(store.db.prepare(ALL).all()),
  "objects instead of JSON": (store) => () =>
    pairs(store.db.prepare(ALL).all()).map(([id, sess]) => [id, JSON.parse(String(sess))]),
  "an iterator": (store) =>
    function* () {
      for (const row of store.db.prepare(ALL).iterate()) yield* pairs([row]);
    },
  "an asynchronous iterator": (store) =>
    async function* () {
      for (const row of store.db.prepare(ALL).iterate()) yield* pairs([row]);
    },
};

describe("a store that lists no ids, with a query of the application", () => {
  it.each(Object.keys(LISTS))("is searched, listed and ended by %s", async (kind) => {
    const { store, sessions } = shop((made) => ({ list: LISTS[kind]!(made) }));
    const found = await sessions.findByUsername("alice");
    expect(found.partial).toBe(false);
    expect(ids(found.sessions)).toEqual(["a1", "a2"]);
    const page = await sessions.list({ pageSize: 3, includeTotal: true });
    expect(page).toMatchObject({ sessions: { length: 3 }, partial: false, totalSize: 4 });
    const rest = await sessions.list({ pageSize: 3, pageToken: page.nextPageToken! });
    expect(ids([...page.sessions, ...rest.sessions])).toEqual(["a1", "a2", "b1", "b2"]);
    expect(await sessions.deleteByUsername("alice")).toEqual({ deleted: 2, partial: false });
    expect(
      store.db
        .prepare("SELECT sid FROM sessions ORDER BY sid")
        .all()
        .map(({ sid }) => sid),
    ).toEqual(["b1", "b2"]);
  });

  it("says that a search is partial which its bounds cut off, and ends the query", async () => {
    let ended = false;
    const list = (store: SqliteStore) =>
      async function* () {
        try {
          for (const row of store.db.prepare(ALL).iterate()) yield* pairs([row]);
        } finally {
          ended = true;
        }
      };
    const { sessions } = shop((store) => ({ list: list(store), scan: { maxSessions: 2 } }));
    expect(await sessions.findByUsername("alice")).toMatchObject({ partial: true });
    expect(ended).toBe(true);
  });

  it("is searched by a query of its own, which may find too many", async () => {
    const prefix = "SELECT sid, sess FROM sessions WHERE sess ->> '$.user.username' LIKE ?";
    const { sessions } = shop((store) => ({
      findByUsername: (username) => pairs(store.db.prepare(prefix).all(`${username}%`)),
    }));
    const found = await sessions.findByUsername("alice");
    expect(found.partial).toBe(false);
    expect(ids(found.sessions)).toEqual(["a1", "a2"]);
  });

  it("serves a store of @fastify/session alike", async () => {
    const store = new SqliteStore();
    onTestFinished(() => store.db.close());
    store.set("a1", { cookie: { originalMaxAge: null }, user: { username: "alice" } } as never);
    const sessions = fastifySessions(store as never, { list: LISTS["an array"]!(store) });
    expect(await sessions.findByUsername!("alice")).toMatchObject({ sessions: [{ id: "a1" }], partial: false });
  });

  it.each<[string, ExpressSessionsOptions["list"]]>([
    ["throws", () => Promise.reject(new Error("SQLITE_BUSY at /secret"))],
    [
      "fails halfway",
      async function* () {
        yield ["a", {}];
        throw new Error("SQLITE_BUSY at /secret");
      },
    ],
    ["never answers", () => new Promise(() => {})],
    [
      "stops answering halfway",
      async function* () {
        yield ["a", {}];
        await new Promise(() => {});
      },
    ],
  ])("is UNAVAILABLE if the query %s", async (_, list) => {
    const { sessions } = shop(() => ({ list, timeoutMs: 50 }));
    const failed = sessions.findByUsername("alice");
    await expect(failed).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" });
    await expect(failed).rejects.not.toThrow(/SQLITE/);
  });

  it("says what a query must return", async () => {
    const { sessions } = shop((store) => ({ list: () => store.db.prepare(ALL).all() as never }));
    await expect(sessions.findByUsername("alice")).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringContaining("[id, record]"),
    });
  });
});
