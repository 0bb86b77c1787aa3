import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SpringRedisSessions, springSessions } from "../../../../src/adapters/sessions/spring/index.ts";
import type { Session } from "../../../../src/sessions/session.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { expected, loadRedis, longName, recordedClock, recordedHashes, repositories, seen, zoe } from "./recorded.ts";

/** Every session of a store, by pages of this size; once, though Redis may list one twice while it enlarges its table. */
async function all(store: SpringRedisSessions, limit = 100, active?: boolean): Promise<Session[]> {
  const sessions = new Map<string, Session>();
  let after: string | undefined;
  do {
    const page = await store.list({ limit, after, active });
    expect(page.sessions.length).toBeLessThanOrEqual(limit);
    for (const session of page.sessions) sessions.set(session.id, session);
    after = page.next;
  } while (after !== undefined);
  return [...sessions.values()];
}

describe.runIf(requirement("redis-server", redisFound))("Spring Session's sessions in Redis", () => {
  let server: RedisServer;
  const stores: SpringRedisSessions[] = [];

  function storeOf(namespace: string, indexed?: boolean): SpringRedisSessions {
    const store = springSessions({ redis: server.url, namespace, indexed, clock: recordedClock });
    stores.push(store);
    return store;
  }

  beforeAll(async () => {
    server = await startRedis();
    await loadRedis(server);
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.detach()));
    await server?.stop();
  });

  describe.each(repositories)("as the $kind repository wrote them in $namespace", (repository) => {
    const { namespace, kind } = repository;
    const hashes = recordedHashes(namespace);

    test("all are listed with what is known of them", async () => {
      expect(seen(await all(storeOf(namespace)))).toEqual(expected(repository));
    });

    test("each is found by its id, with the times that Spring wrote", async () => {
      const store = storeOf(namespace);
      const number = (value: Buffer) =>
        value[0] === 0xac ? Number(value.readBigInt64BE(value.length - 8)) : Number(value.toString());
      for (const session of await all(store)) {
        const { creationTime, lastAccessedTime } = hashes.get(session.id)!;
        expect(session.creationTime).toBe(number(creationTime!));
        expect(session.firstSeenTime).toBe(session.creationTime);
        expect(session.lastAccessedTime).toBe(number(lastAccessedTime!));
        expect(await store.findById(session.id)).toEqual(session);
      }
    });

    test("the remainder of a deleted session is not a session", async () => {
      const listed = new Set((await all(storeOf(namespace))).map(({ id }) => id));
      const left = [...hashes.keys()].filter((id) => !listed.has(id));
      expect(left).toHaveLength(kind === "indexed" ? 1 : 0);
      for (const id of left) expect(await storeOf(namespace).findById(id)).toBeUndefined();
    });

    test("they are found by their user if Spring has an index", async () => {
      const store = storeOf(namespace);
      if (kind === "plain") {
        const error = { code: "UNIMPLEMENTED", reason: "FIND_BY_USERNAME_UNSUPPORTED" };
        await expect(store.findByUsername!("alice")).rejects.toMatchObject(error);
        return;
      }
      const counts = {
        alice: 2,
        [zoe]: 1,
        [longName]: 1,
        never: 1,
        changed: 1,
        expired: 1,
        deleted: 0,
        Alice: 0,
        "": 0,
      };
      for (const [username, count] of Object.entries(counts)) {
        const { sessions, partial } = await store.findByUsername!(username);
        expect(sessions.map((session) => session.username)).toEqual(Array(count).fill(username));
        expect(sessions).toEqual(
          expect.arrayContaining((await all(store)).filter((each) => each.username === username)),
        );
        expect(partial).toBe(false);
      }
    });

    test("only the reading commands are used", async () => {
      const store = storeOf(namespace);
      await server.command("CONFIG", "RESETSTAT");
      const sessions = await all(store);
      await store.findById(sessions[0]!.id);
      await store.findByUsername!("alice").catch(() => {});
      await store.findByUsername!("nobody").catch(() => {});
      const stats = String(await server.command("INFO", "commandstats"));
      const used = [...stats.matchAll(/cmdstat_([\w|-]+):/g)].map(([, name]) => name!);
      const connecting = ["config|resetstat", "info", "hello", "client|setinfo", "client|setname", "ping"];
      const reading = ["scan", "sscan", "hmget", "hkeys", "exists"];
      expect(used.filter((name) => ![...connecting, ...reading].includes(name))).toEqual([]);
      expect(used).toEqual(expect.arrayContaining(["scan", "sscan", "hmget", "hkeys"]));
    });
  });

  test.each(["indexed:jdk", "sorted:jdk", "webflux:jdk"])(
    "the user of a session of Spring Security is known if it is found by its user: %s",
    async (namespace) => {
      const store = storeOf(namespace);
      const { sessions } = await store.findByUsername!("secured");
      expect(sessions).toMatchObject([{ username: "secured", attributeNames: ["SPRING_SECURITY_CONTEXT"] }]);
      expect(await store.findById(sessions[0]!.id)).toEqual({ ...sessions[0], username: undefined });
    },
  );

  test("those that have expired are listed apart", async () => {
    const store = storeOf("indexed:jdk");
    expect(seen(await all(store, 100, false))).toEqual(
      expected({ kind: "indexed", serializer: "jdk" }).filter((s) => s.expired),
    );
    expect(seen(await all(store, 100, true))).toEqual(
      expected({ kind: "indexed", serializer: "jdk" }).filter((s) => !s.expired),
    );
  });

  test("an index is a hint: sessions that are gone or another user's are left out", async () => {
    const store = storeOf("indexed:jackson2");
    const index =
      "indexed:jackson2:index:org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME:alice";
    const { sessions } = await store.findByUsername!(zoe);
    await server.command("SADD", index, JSON.stringify(sessions[0]!.id), '"gone"', "not a member", '"', "17");
    expect((await store.findByUsername!("alice")).sessions).toHaveLength(2);
    await loadRedis(server);
  });

  test("told that the repository is not indexed, the store says so beforehand", () => {
    const store = storeOf("plain:jdk", false);
    expect(store.findByUsername).toBeUndefined();
    expect(store.limits?.findByUsername).toContain("repository-type=indexed");
  });

  test("with indexed: true, an unknown user has no sessions, without a look at others", async () => {
    const store = storeOf("plain:jdk", true);
    expect(await store.findByUsername!("nobody")).toEqual({ sessions: [], partial: false });
  });

  test("sessions that have no shadow key anyway say nothing of the repository", async () => {
    for (const [id, interval] of [
      ["never", "-1"],
      ["expired", "3"],
    ] as const) {
      const times = ["creationTime", "1000", "lastAccessedTime", "1000", "maxInactiveInterval", interval];
      await server.command("HSET", `shadowless:sessions:${id}`, ...times);
    }
    expect(await storeOf("shadowless").findByUsername!("nobody")).toEqual({ sessions: [], partial: false });
  });

  test("where there are no sessions, every user has none", async () => {
    expect(await storeOf("nowhere").findByUsername!("alice")).toEqual({ sessions: [], partial: false });
    expect(await all(storeOf("nowhere"))).toEqual([]);
  });

  test.each(["", "\ud800", "a".repeat(400_000), "*"])("a strange name finds no session", async (username) => {
    expect((await storeOf("indexed:jdk").findByUsername!(username)).sessions).toEqual([]);
  });

  describe("among other data", () => {
    const namespace = "odd*[a-z]?\\^name";
    const key = (name: string) => `${namespace}:sessions:${name}`;
    const session = ["creationTime", "1000", "lastAccessedTime", "2000", "maxInactiveInterval", "1800"];

    beforeAll(async () => {
      await server.command("FLUSHALL");
      await server.command("SET", key("text"), "x");
      await server.command("RPUSH", key("list"), "x");
      await server.command("SADD", key("set"), "x");
      await server.command("ZADD", key("sorted"), "1", "x");
      await server.command("XADD", key("stream"), "*", "a", "b");
      await server.command("HSET", key("hash"), "a", "b", "sessionAttr:c", "d");
      await server.command("HSET", key("expires:hash"), ...session);
      await server.command("HSET", key(""), ...session);
      await server.command("HSET", "oddXname:sessions:other", ...session);
      await server.command("HSET", `${namespace}2:sessions:other`, ...session);
      await server.command("HSET", key("good"), ...session, "other", "x", "sessionAttr:", "y");
      await server.command(
        "HSET",
        key("broken"),
        "creationTime",
        "\0\0",
        "lastAccessedTime",
        "x",
        "maxInactiveInterval",
        "",
      );
      await server.command("HSET", key("rest"), "lastAccessedTime", "2000", "sessionAttr:late", "x");
      const far = [
        "creationTime",
        "9".repeat(19),
        "lastAccessedTime",
        `-${"9".repeat(19)}`,
        "maxInactiveInterval",
        "9".repeat(12),
      ];
      await server.command("HSET", key("far"), ...far);
    });

    test("only sessions are listed", async () => {
      const sessions = await all(storeOf(namespace));
      expect(sessions.map(({ id }) => id).sort()).toEqual(["broken", "far", "good", "rest"]);
    });

    test.each(["text", "list", "set", "sorted", "stream", "hash", "nowhere", "", "\ud800"])(
      "%j is no session",
      async (id) => {
        expect(await storeOf(namespace).findById(id)).toBeUndefined();
        expect(await storeOf(namespace).delete(id)).toBe(false);
      },
    );

    test("what cannot be read is not known, and the time of the first sight stays", async () => {
      let now = 5_000;
      const store = springSessions({ redis: server.url, namespace, clock: () => now++ });
      stores.push(store);
      const unknown = { creationTime: undefined, lastAccessedTime: undefined, maxInactiveInterval: undefined };
      const broken = await store.findById("broken");
      expect(broken).toEqual({ id: "broken", attributeNames: [], ...unknown, firstSeenTime: 5_000, expired: false });
      expect(await store.findById("far")).toMatchObject({ ...unknown, expired: false });
      expect(await store.findById("rest")).toMatchObject({
        ...unknown,
        lastAccessedTime: 2_000,
        attributeNames: ["late"],
      });
      expect(await store.findById("broken")).toEqual(broken);
    });

    test("an attribute without a name has none", async () => {
      expect(await storeOf(namespace).findById("good")).toMatchObject({ attributeNames: [""], creationTime: 1_000 });
    });

    test("values of attributes stay where they are", async () => {
      const big = "v".repeat(20_000_000);
      await server.command(
        "HSET",
        key("big"),
        ...session,
        "sessionAttr:big",
        big,
        "sessionAttr:SPRING_SECURITY_CONTEXT",
        big,
      );
      const store = storeOf(namespace);
      const sent = async () =>
        Number(/total_net_output_bytes:(\d+)/.exec(String(await server.command("INFO", "stats")))![1]);
      const before = await sent();
      expect((await store.findById("big"))?.attributeNames).toEqual(["SPRING_SECURITY_CONTEXT", "big"]);
      expect((await all(store)).some(({ id }) => id === "big")).toBe(true);
      expect((await sent()) - before).toBeLessThan(50_000);
    });
  });

  describe("10,000 of them", () => {
    const count = 10_000;
    const namespace = "many";

    beforeAll(async () => {
      await server.command("FLUSHALL");
      const script = `for i = 1, ${count} do
        redis.call("HSET", "many:sessions:" .. i, "creationTime", i, "lastAccessedTime", 1e6 + i, "maxInactiveInterval", 1800, "sessionAttr:a", "x")
        redis.call("SET", "many:sessions:expires:" .. i, "")
        redis.call("SADD", "many:expirations:" .. i % 60, '"expires:' .. i .. '"')
        redis.call("SADD", "many:index:org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME:everybody", '"' .. i .. '"')
      end`;
      await server.command("EVAL", script, "0");
    });

    test.each([1000, 333])("are all listed by pages of %i", async (limit) => {
      const sessions = await all(storeOf(namespace), limit);
      expect(new Set(sessions.map(({ id }) => id)).size).toBe(count);
    });

    test("those there all the time are listed while others come and go", async () => {
      const store = storeOf(namespace);
      const ids = new Set<string>();
      let after: string | undefined;
      let page = 0;
      do {
        const { sessions, next } = await store.list({ limit: 200, after });
        for (const { id } of sessions) ids.add(id);
        after = next;
        page++;
        const args = Array.from({ length: 500 }, (_, i) => `many:sessions:${page % 2 ? "new" : "more"}-${page}-${i}`);
        for (const key of args) void server.command("HSET", key, "creationTime", "1");
        if (page % 5 === 0)
          await server.command(
            "EVAL",
            "for _, k in ipairs(redis.call('KEYS', 'many:sessions:[nm]*')) do redis.call('DEL', k) end",
            "0",
          );
      } while (after !== undefined && page < 2_000);
      expect(after).toBeUndefined();
      for (let id = 1; id <= count; id++) expect(ids.has(`${id}`)).toBe(true);
      await server.command(
        "EVAL",
        "for _, k in ipairs(redis.call('KEYS', 'many:sessions:[nm]*')) do redis.call('DEL', k) end",
        "0",
      );
    });

    test("are all found by their user", async () => {
      const { sessions, partial } = await storeOf(namespace).findByUsername!("everybody");
      expect(new Set(sessions.map(({ id }) => id)).size).toBe(count);
      expect(partial).toBe(false);
    });

    test("need not all be looked at to see how they are kept", async () => {
      await server.command("CONFIG", "RESETSTAT");
      expect(await storeOf(namespace).findByUsername!("nobody")).toEqual({ sessions: [], partial: false });
      expect(String(await server.command("INFO", "commandstats"))).toMatch(/cmdstat_scan:calls=1,/);
    });

    test("a page holds one session if the limit is one", async () => {
      await server.command("FLUSHALL");
      for (let i = 0; i < 300; i++) await server.command("HSET", `many:sessions:${i}`, "creationTime", "1");
      const ids = (await all(storeOf(namespace), 1)).map(({ id }) => Number(id));
      expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => i));
    });
  });

  describe("out of reach", () => {
    test("every method says UNAVAILABLE, and works again when the server is back", async () => {
      await loadRedis(server);
      const store = storeOf("indexed:jdk");
      const [session] = await all(store);
      await server.kill();
      const error = { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" };
      await expect(store.findById(session!.id)).rejects.toMatchObject(error);
      await expect(store.findByUsername!("alice")).rejects.toMatchObject(error);
      await expect(store.list({ limit: 10 })).rejects.toMatchObject(error);
      await expect(store.delete(session!.id)).rejects.toMatchObject(error);
      await server.restart();
      expect(await store.findById(session!.id)).toEqual(session);
    });
  });
});
