import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import connectPgSimple from "connect-pg-simple";
import { RedisStore } from "connect-redis";
import session, { type SessionData, type Store } from "express-session";
import fc from "fast-check";
import pg from "pg";
import { createClient } from "redis";
import fileStore from "session-file-store";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connectPgSimpleSessions,
  prepareConnectPgSimpleSessions,
} from "../../src/adapters/sessions/connect-pg-simple/index.ts";
import { connectRedisSessions } from "../../src/adapters/sessions/connect-redis/index.ts";
import { expressSessions } from "../../src/adapters/sessions/express-session/index.ts";
import { koaSessions } from "../../src/adapters/sessions/koa/index.ts";
import { fileStoreSessions } from "../../src/adapters/sessions/session-file-store/index.ts";
import { memorySessions } from "../../src/sessions/memory-store.ts";
import { isSessionId } from "../../src/sessions/session-id.ts";
import { Sessions } from "../../src/sessions/sessions.ts";
import type { SessionStore } from "../../src/sessions/store.ts";
import { JsonStore } from "../adapters/sessions/koa/application.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../support/postgres-server.ts";
import { type RedisServer, redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";

const HOSTILE = [
  "'; DROP TABLE session; --",
  "' OR '1'='1",
  "%' OR sid LIKE '%",
  "$1",
  "$$",
  "%",
  "_",
  "*",
  "?",
  "[a-z]*",
  "\\",
  "\\*",
  '"',
  '"}],{"user":"root',
  "{{user}}",
  "accessed",
  "expires",
  "state",
  "user:alice",
  "alice",
  "alice ",
  " alice",
  "ALICE",
  "alic",
  "alicee",
  "a:b",
  "redis.call('FLUSHALL')",
  "\r\nFLUSHALL\r\n",
  "*1\r\n$8\r\nFLUSHALL\r\n",
  "é",
  "e\u0301",
  "😀",
  "\u202eecila",
  "\u0000",
  "alice\u0000",
  "\ud800",
  "\udc00\ud800",
  "__proto__",
  "constructor",
  "toString",
  "length",
  "null",
  "undefined",
  "true",
  "0",
  "-0",
  "1e3",
  "../../etc/passwd",
  "x".repeat(1_024),
  "é".repeat(1_000),
];

const WAYS: readonly ((text: string) => string)[] = [
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.slice(0, -1),
  (text) => text.slice(1),
  (text) => `${text} `,
  (text) => ` ${text}`,
  (text) => `${text}\0`,
  (text) => `${text}*`,
  (text) => `${text}%`,
  (text) => `${text}\ud800`,
  (text) => `${text}\udfff`,
  (text) => `user:${text}`,
  (text) => JSON.stringify(text),
  (text) => text.normalize("NFD"),
  (text) => text.normalize("NFC"),
];

const name = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary", minLength: 1, maxLength: 40 }));
const severalOf = (each: fc.Arbitrary<string>) => fc.uniqueArray(each, { minLength: 2, maxLength: 5 });
/** Names that a careless store takes for each other. */
const family = name
  .filter((text) => text.length < 1_000)
  .chain((text) => severalOf(fc.constantFrom(text, ...WAYS.map((way) => way(text)).filter((each) => each !== ""))));
const names = fc.oneof(severalOf(name), family);
const anyId = name.filter((text) => isSessionId(`${text}-100000`) && text.isWellFormed());
/** Of a store that makes names of files of its ids. */
const fileId = fc.stringMatching(/^[A-Za-z0-9_-]{20,32}$/);

interface Bed {
  readonly store: SessionStore;
  readonly ids?: fc.Arbitrary<string>;
  put(id: string, username: string): Promise<unknown>;
  clear(): Promise<unknown>;
  end?(): Promise<unknown>;
}

/** A bed for a store of the connect family. */
function connectBed(store: Store, sessions: SessionStore, clear: Bed["clear"], end: Bed["end"] = async () => {}): Bed {
  return {
    store: sessions,
    put: (id, username) =>
      new Promise<void>((resolve, reject) => {
        const cookie = { originalMaxAge: 60_000, expires: new Date(Date.now() + 60_000) };
        const record = { cookie, passport: { user: username } } as unknown as SessionData;
        store.set(id, record, (error) => (error ? reject(error) : resolve()));
      }),
    clear,
    async end() {
      await sessions.detach?.();
      await end();
    },
  };
}

async function redisBed(url: string, index: boolean): Promise<Bed> {
  const client = await createClient({ url }).connect();
  const store = new RedisStore({ client });
  const clear = () => client.flushAll();
  return connectBed(store, connectRedisSessions(store, { index }), clear, async () => client.destroy());
}

async function postgresBed(url: string, prepared: boolean): Promise<Bed> {
  const schemaName = prepared ? "prepared" : "plain";
  const pool = new pg.Pool({ connectionString: url });
  await pool.query(`CREATE SCHEMA IF NOT EXISTS ${schemaName}`);
  const options = { pool, schemaName, createTableIfMissing: true, pruneSessionInterval: false } as const;
  const store = new (connectPgSimple(session))(options);
  await new Promise((resolve) => store.get("none", resolve));
  if (prepared) await prepareConnectPgSimpleSessions({ pool, schema: schemaName });
  const clear = () => pool.query(`DELETE FROM ${schemaName}.session`);
  return connectBed(store, connectPgSimpleSessions(store), clear, () => pool.end());
}

async function koaBed(url: string): Promise<Bed> {
  const client = await createClient({ url }).connect();
  const store = new JsonStore();
  const sessions = koaSessions(store, { index: { redis: client as never, complete: true } });
  let written = 0;
  const indexed = () => client.zCount("koa:sess-index:accessed", 0, "+inf");
  return {
    store: sessions,
    async put(id, username) {
      await store.set(id, { passport: { user: username }, _expire: Date.now() + 60_000, _maxAge: 60_000 });
      written++;
      // The application does not wait for the index.
      await expect.poll(indexed).toBe(written);
    },
    async clear() {
      written = 0;
      store.texts.clear();
      // The keys stay, with what says that the index holds every session.
      for (const set of ["accessed", "expires"]) await client.zRemRangeByScore(`koa:sess-index:${set}`, 0, "+inf");
      await client.zRemRangeByLex("koa:sess-index:users", "[0", "+");
    },
    async end() {
      await sessions.detach();
      client.destroy();
    },
  };
}

function fileBed(): Bed {
  const path = mkdtempSync(join(tmpdir(), "hostile-names-"));
  const store = new (fileStore(session as never))({ path, reapInterval: -1, logFn: () => {} });
  const clear = () => new Promise<void>((resolve) => store.clear?.(() => resolve()));
  const end = async () => rmSync(path, { recursive: true });
  return { ...connectBed(store, fileStoreSessions(store), clear, end), ids: fileId };
}

function expressBed(): Bed {
  const store = new session.MemoryStore();
  return connectBed(store, expressSessions(store), () => new Promise<void>((resolve) => store.clear(() => resolve())));
}

function memoryBed(): Bed {
  const store = memorySessions();
  return {
    store,
    put: async (id, username) => store.put({ id, username }),
    async clear() {
      for (const { id } of (await store.list({ limit: 1_000 })).sessions) await store.delete(id);
    },
  };
}

const hasRedis = requirement("redis-server", redisFound);
const hasPostgres = requirement("postgresql", postgresFound);

describe("whatever names and ids are made of", () => {
  let redis: RedisServer | undefined;
  let postgres: PostgresServer | undefined;
  let made = 0;
  beforeAll(async () => {
    if (hasRedis) redis = await startRedis();
    if (hasPostgres) postgres = await startPostgres();
  });
  afterAll(async () => {
    await Promise.all([redis?.stop(), postgres?.stop()]);
  });

  const beds: readonly (readonly [string, boolean, () => Bed | Promise<Bed>])[] = [
    ["memorySessions", true, memoryBed],
    ["MemoryStore", true, expressBed],
    ["session-file-store", true, fileBed],
    ["connect-redis", hasRedis, () => redisBed(redis!.url, true)],
    ["connect-redis without an index", hasRedis, () => redisBed(redis!.url, false)],
    ["koa-session with an index in Redis", hasRedis, () => koaBed(redis!.url)],
    ["connect-pg-simple", hasPostgres, () => postgresBed(postgres!.url, false)],
    ["connect-pg-simple with indexes", hasPostgres, () => postgresBed(postgres!.url, true)],
  ];
  const present = beds.filter(([, found]) => found);

  it.each(present)("%s finds, shows and ends those sessions that are asked for and no others", async (_, __, make) => {
    const bed = await make();
    const ids = fc.uniqueArray(bed.ids ?? anyId, { minLength: 5, maxLength: 5 });
    try {
      await fc.assert(
        fc.asyncProperty(names, ids, name, async (users, storeIds, other) => {
          await bed.clear();
          // An id that was ended is refused for a while.
          for (const [at, user] of users.entries()) await bed.put(`${storeIds[at]}-${++made}`, user);
          await askFor(bed.store, users, other);
        }),
        { numRuns: 60 },
      );
    } finally {
      await bed.end?.();
    }
  });

  it.each(present.filter(([kind]) => !/^memory|^Memory/.test(kind)))(
    "%s repeats neither in its errors when it is gone",
    async (_, __, make) => {
      const bed = await make();
      const [id, username] = ["correct-horse-battery", "staple@example.com"];
      await bed.clear();
      await bed.put(id, username);
      const sessions = new Sessions(bed.store, { idKey: "a key of 16 and more" });
      const shown = (await sessions.findByUsername(username)).sessions[0]!.id;
      await bed.end?.();
      const calls = [
        sessions.find(shown),
        sessions.findByUsername(username),
        sessions.list(),
        sessions.delete(shown),
        sessions.deleteByUsername(username),
      ];
      const failed = (await Promise.allSettled(calls)).filter((outcome) => outcome.status === "rejected");
      expect(failed).not.toEqual([]);
      for (const { reason } of failed) {
        for (const secret of [id, username]) expect(String(reason)).not.toContain(secret);
      }
    },
  );
});

/** One session a user. */
async function askFor(store: SessionStore, users: readonly string[], other: string): Promise<void> {
  const sessions = new Sessions(store, { idKey: "a key of 16 and more" });
  const shown = new Map<string, string>();
  for (const user of users) {
    const found = await sessions.findByUsername(user);
    expect(found).toMatchObject({ sessions: [{ username: user }], partial: false });
    shown.set(user, found.sessions[0]!.id);
  }
  expect(new Set(shown.values()).size).toBe(users.length);
  if (!users.includes(other)) expect(await sessions.findByUsername(other)).toEqual({ sessions: [], partial: false });
  const listed = (await sessions.list({ pageSize: 10 })).sessions;
  expect(listed.map(({ username }) => username).sort()).toEqual([...users].sort());

  // Another instance, which has shown none of them.
  const elsewhere = new Sessions(store, { idKey: "a key of 16 and more" });
  for (const [user, id] of shown) expect(await elsewhere.find(id)).toMatchObject({ id, username: user });
  const [first, second, ...rest] = users;
  expect(await elsewhere.delete(shown.get(first!)!)).toBe(true);
  expect(await sessions.deleteByUsername(second!)).toEqual({ deleted: 1, partial: false });
  for (const user of [first!, second!]) expect((await sessions.findByUsername(user)).sessions).toEqual([]);
  for (const user of rest) expect((await sessions.findByUsername(user)).sessions).toHaveLength(1);
}
