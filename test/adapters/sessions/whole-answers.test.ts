import { RedisStore } from "connect-redis";
import { createClient } from "redis";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { connectRedisSessions } from "../../../src/adapters/sessions/connect-redis/index.ts";
import { koaSessions } from "../../../src/adapters/sessions/koa/index.ts";
import { sessionDigest } from "../../../src/sessions/session-id.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import type { SessionStore } from "../../../src/sessions/store.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../support/postgres-server.ts";
import { type RedisServer, redisFound, startRedis } from "../../support/redis-server.ts";
import { requirement } from "../../support/requirement.ts";
import { record, testStore } from "./connect-pg-simple/store.ts";
import { JsonStore } from "./koa/application.ts";

/** A store with sessions, and what an operator sees of it. */
interface World {
  readonly sessions: SessionStore;
  /** Makes a session of this user. */
  login(id: string, username: string): Promise<unknown>;
  /** Returns the ids of this user's sessions with which a request would be let in. */
  living(username: string): Promise<string[]>;
}

/** Checks the rule: an answer about sessions is whole, or says that it is partial. */
async function expectWholeOrPartial({ sessions, living }: World, username: string): Promise<void> {
  const found = await sessions.findByUsername!(username);
  if (!found.partial) expect(found.sessions.map(({ id }) => id).sort()).toEqual(await living(username));

  const listed: string[] = [];
  let partial = false;
  for (let after: string | undefined; ; ) {
    const page = await sessions.list!({ limit: 3, after });
    listed.push(...page.sessions.filter((session) => session.username === username).map(({ id }) => id));
    partial ||= page.partial;
    after = page.next;
    if (after === undefined) break;
  }
  if (!partial) expect([...new Set(listed)].sort()).toEqual(await living(username));

  for (const id of await living(username)) expect(await sessions.findIdByDigest?.(sessionDigest(id))).not.toBeNull();
}

/** Checks the rule for "log out everywhere". */
async function expectLoggedOutOrPartial({ sessions, living }: World, username: string): Promise<void> {
  const { partial } = await new Sessions(sessions, { idKey: "of a test in 16 bytes" }).deleteByUsername(username);
  if (!partial) expect(await living(username)).toEqual([]);
}

const ALICE = Array.from({ length: 5 }, (_, at) => `alice-${at}`);
const BOB = Array.from({ length: 5 }, (_, at) => `bob-${at}`);

async function loginAll({ login }: World): Promise<void> {
  for (const id of ALICE) await login(id, "alice");
  for (const id of BOB) await login(id, "bob");
}

describe.runIf(requirement("redis-server", redisFound))(
  "an answer about sessions is whole, or says that it is partial",
  () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server?.stop());
    beforeEach(async () => {
      await server.command("FLUSHALL");
      await server.command("CONFIG", "SET", "maxmemory", "0");
    });

    async function client() {
      const made = await createClient({ url: server.url })
        .on("error", () => {})
        .connect();
      onTestFinished(() => made.destroy());
      return made;
    }

    async function connectRedis(options: Parameters<typeof connectRedisSessions>[1] = {}): Promise<World> {
      const redis = await client();
      const store = new RedisStore({ client: redis });
      const sessions = connectRedisSessions(store, options);
      onTestFinished(async () => sessions.detach?.());
      return {
        sessions,
        login: (id, username) =>
          store.set(id, { cookie: { originalMaxAge: null }, user: { username } } as never).catch(() => {}),
        async living(username) {
          const all: { id: string; user: { username: string } }[] = await store.all();
          return all
            .filter(({ user }) => user.username === username)
            .map(({ id }) => id)
            .sort();
        },
      };
    }

    async function koa(): Promise<World> {
      const store = new JsonStore();
      const redis = await client();
      const sessions = koaSessions(store, { index: { redis, complete: true } });
      onTestFinished(async () => sessions.detach?.());
      return {
        sessions,
        login: (id, username) => store.set(id, { username, _maxAge: 60_000, _expire: Date.now() + 60_000 }),
        living: async (username) =>
          [...store.texts]
            .filter(([, text]) => JSON.parse(text).username === username)
            .map(([id]) => id)
            .sort(),
      };
    }

    /** Each store, with a claim that its index holds every session. */
    const stores: Record<string, () => Promise<World>> = {
      async "connect-redis with few sessions"() {
        const world = await connectRedis();
        await loginAll(world);
        await (world.sessions as ReturnType<typeof connectRedisSessions>).prepare!();
        return world;
      },
      async "connect-redis with more sessions than a search may read"() {
        const world = await connectRedis({ scan: { maxSessions: 20, maxMs: 0 } });
        await loginAll(world);
        const others = Array.from({ length: 3_000 }, (_, at) => [`sess:x${at}`, '{"user":{"username":"x"}}']);
        await server.command("MSET", ...others.flat());
        await (world.sessions as ReturnType<typeof connectRedisSessions>).prepare!();
        return world;
      },
      async "koa-session"() {
        const world = await koa();
        await loginAll(world);
        // The application does not wait for the index.
        await expect.poll(() => world.sessions.findByUsername!("bob")).toMatchObject({ sessions: { length: 5 } });
        return world;
      },
    };

    const indexKeys = async () => [
      ...((await server.command("KEYS", "actuator:*")) as string[]),
      ...((await server.command("KEYS", "koa:sess-index:*")) as string[]),
    ];

    describe.each(Object.keys(stores))("%s", (name) => {
      const world = () => stores[name]!();

      it("has an index that answers by itself while nothing is lost", async () => {
        const { sessions } = await world();
        const found = await sessions.findByUsername!("alice");
        expect(found.partial).toBe(false);
        expect(found.sessions.map(({ id }) => id).sort()).toEqual(ALICE);
      });

      it("whichever key of the index is gone", async () => {
        const count = (await world().then(indexKeys)).length;
        for (let at = 0; at < count; at++) {
          await server.command("FLUSHALL");
          const again = await world();
          await server.command("DEL", (await indexKeys()).sort()[at]!);
          await expectWholeOrPartial(again, "alice");
          await expectLoggedOutOrPartial(again, "alice");
        }
      });

      it("whichever key of the index is gone, and made anew by the next login", async () => {
        const count = (await world().then(indexKeys)).length;
        for (let at = 0; at < count; at++) {
          await server.command("FLUSHALL");
          const again = await world();
          await server.command("DEL", (await indexKeys()).sort()[at]!);
          await again.login("alice-9", "alice");
          await expectWholeOrPartial(again, "alice");
          await expectLoggedOutOrPartial(again, "alice");
        }
      });

      it("if the whole index is gone", async () => {
        const again = await world();
        await server.command("DEL", ...(await indexKeys()));
        await again.login("alice-9", "alice");
        await expectWholeOrPartial(again, "alice");
        await expectLoggedOutOrPartial(again, "alice");
      });

      it.each(["allkeys-random", "allkeys-lru", "volatile-ttl"])("if Redis evicts keys by %s", async (policy) => {
        const again = await world();
        await server.command("CONFIG", "SET", "maxmemory-policy", policy);
        for (let at = 0; at < 400; at++) await again.login(`other-${at}`, `user-${at}`);
        const used = Number(/used_memory:(\d+)/.exec(String(await server.command("INFO", "memory")))![1]);
        await server.command("CONFIG", "SET", "maxmemory", `${used}`);
        for (let at = 0; at < 400; at++) await again.login(`more-${at}`, `user-${at}`);
        expect(String(await server.command("INFO", "stats"))).not.toMatch(/evicted_keys:0\b/);
        await server.command("CONFIG", "SET", "maxmemory", "0");
        for (const user of ["alice", "bob", "user-1", "user-300"]) await expectWholeOrPartial(again, user);
        for (const user of ["alice", "bob"]) await expectLoggedOutOrPartial(again, user);
      });
    });

    it("of what the index knows, to a user of Redis who may not search", async () => {
      await server.command("ACL", "SETUSER", "searchless", "on", ">of-a-test", "~*", "+@all", "-scan", "-keys");
      const redis = server.url.replace("//", "//searchless:of-a-test@");
      const world = await connectRedis({ redis });
      await loginAll(world);
      const found = await world.sessions.findByUsername!("alice");
      expect(found).toMatchObject({ sessions: { length: 5 }, partial: true });
      expect(await world.sessions.list!({ limit: 100 })).toMatchObject({ sessions: { length: 10 }, partial: true });
      expect(await world.sessions.count!({})).toBeUndefined();
      await expectWholeOrPartial(world, "alice");
      await expectLoggedOutOrPartial(world, "alice");
    });
  },
);

describe.runIf(requirement("postgresql", postgresFound))(
  "an answer of PostgreSQL is whole, or says that it is partial",
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server?.stop());

    it.each([
      ["what prepare made", {}],
      ["what prepare made, with more sessions than a search may read", { scan: { maxSessions: 2 } }],
    ])("after %s is removed again", async (_, options) => {
      const { sessions, prepare, set, pool, table } = await testStore(server, options);
      await prepare();
      const world: World = {
        sessions,
        login: (id, username) => set(id, record({ user: { username } })),
        async living(username) {
          const { rows } = await pool.query(`SELECT sid FROM ${table} WHERE sess #>> '{user,username}' = $1`, [
            username,
          ]);
          return rows.map(({ sid }) => sid).sort();
        },
      };
      await loginAll(world);
      expect(await sessions.findByUsername("alice")).toMatchObject({ sessions: { length: 5 }, partial: false });
      await expectWholeOrPartial(world, "alice");
      await prepare({ remove: true });
      await expectWholeOrPartial(world, "alice");
      expect(await sessions.count({})).toBe(10);
      expect(await sessions.findById("bob-1")).toMatchObject({ username: "bob" });
      await prepare();
      await expectWholeOrPartial(world, "alice");
      await prepare({ remove: true });
      await expectLoggedOutOrPartial(world, "alice");
    });
  },
);
