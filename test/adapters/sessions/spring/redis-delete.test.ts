import { Redis } from "ioredis";
import { createClient, RESP_TYPES } from "redis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SpringRedisSessions, springSessions } from "../../../../src/adapters/sessions/spring/index.ts";
import { numberOf } from "../../../../src/adapters/sessions/spring/serialized.ts";
import type { Session } from "../../../../src/sessions/session.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { loadRedis, recordedClock, recordedHashes, repositories } from "./recorded.ts";

const FIVE_MINUTES = 300_000;

/** Everything in a server: each key's value, in a form that can be compared. */
type Contents = Record<string, unknown>;

describe.runIf(requirement("redis-server", redisFound))("deleting Spring Session's sessions in Redis", () => {
  let server: RedisServer;
  let client: ReturnType<typeof connect>;
  const connect = (url: string) => createClient({ url, RESP: 2 }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });

  beforeAll(async () => {
    server = await startRedis();
    client = connect(server.url);
    await client.connect();
  });
  beforeEach(() => loadRedis(server));
  afterAll(async () => {
    client?.destroy();
    await server?.stop();
  });

  function storeOf(namespace: string, indexed?: boolean): SpringRedisSessions {
    return springSessions({ redis: client, namespace, indexed, clock: recordedClock });
  }

  async function sessionOf(store: SpringRedisSessions, matches: (session: Session) => boolean): Promise<Session> {
    const { sessions } = await store.list({ limit: 100 });
    const session = sessions.find(matches);
    expect(session).toBeDefined();
    return session!;
  }

  async function contents(): Promise<Contents> {
    const all: Contents = {};
    for (const key of ((await server.command("KEYS", "*")) as string[]).sort()) {
      const type = await server.command("TYPE", key);
      if (type === "hash") {
        const flat = (await client.sendCommand(["HGETALL", key])) as unknown as Buffer[];
        for (let i = 0; i < flat.length; i += 2) all[`${key} ${flat[i]}`] = flat[i + 1]!.toString("hex");
      } else if (type === "string") all[key] = await server.command("GET", key);
      else {
        const args = type === "set" ? ["SMEMBERS", key] : ["ZRANGE", key, "0", "-1"];
        for (const member of (await client.sendCommand(args)) as unknown as Buffer[]) all[`${key} ${member}`] = true;
      }
    }
    return all;
  }

  /** What went, and what changed to what. */
  function difference(before: Contents, after: Contents): { gone: string[]; changed: Contents; added: string[] } {
    const gone = Object.keys(before).filter((key) => !(key in after));
    const added = Object.keys(after).filter((key) => !(key in before));
    const changed = Object.entries(after).filter(([key, value]) => key in before && before[key] !== value);
    return { gone, changed: Object.fromEntries(changed), added };
  }

  const indexed = repositories.filter(({ kind }) => kind === "indexed");
  const plain = repositories.filter(({ kind }) => kind === "plain");
  const java = (text: string) => `\ufffd\ufffd\0\u0005t\0${String.fromCharCode(text.length)}${text}`;

  test.each(indexed)("leaves in $namespace what Spring's own deleteById leaves", async ({ namespace, serializer }) => {
    const store = storeOf(namespace);
    const { id, lastAccessedTime } = await sessionOf(store, (session) => session.maxInactiveInterval === 60);
    const before = await contents();
    expect(await store.delete(id)).toBe(true);
    const { gone, changed, added } = difference(before, await contents());
    const hash = `${namespace}:sessions:${id}`;
    const written = serializer === "jdk" ? java : JSON.stringify;
    const minute = (Math.floor((lastAccessedTime! + 60_000) / 60_000) + 1) * 60_000;
    const filed = namespace.startsWith("sorted")
      ? `${namespace}:sessions:expirations ${written(id)}`
      : `${namespace}:expirations:${minute} ${written(`expires:${id}`)}`;
    const index = `${namespace}:index:org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME`;
    expect(gone.sort()).toEqual([`${namespace}:sessions:expires:${id}`, filed, `${index}:alice ${written(id)}`].sort());
    expect(added).toEqual([]);
    const zero = [...recordedHashes(namespace).values()].find((each) => numberOf(each.maxInactiveInterval!) === 0)!;
    expect(changed).toEqual({ [`${hash} maxInactiveInterval`]: zero.maxInactiveInterval!.toString("hex") });
    const ttl = Number(await server.command("PTTL", hash));
    expect(ttl).toBeGreaterThan(FIVE_MINUTES - 20_000);
    expect(ttl).toBeLessThanOrEqual(FIVE_MINUTES);
    expect(await store.findById(id)).toBeUndefined();
    expect((await store.findByUsername!("alice")).sessions).toHaveLength(1);
    expect(await store.delete(id)).toBe(false);
  });

  test.each(plain)("removes the hash and nothing else in $namespace", async ({ namespace }) => {
    const store = storeOf(namespace);
    const { id } = await sessionOf(store, (session) => session.maxInactiveInterval === 60);
    const before = await contents();
    expect(await store.delete(id)).toBe(true);
    const { gone, changed, added } = difference(before, await contents());
    expect(gone.every((key) => key.startsWith(`${namespace}:sessions:${id} `))).toBe(true);
    expect({ count: gone.length, changed, added }).toEqual({ count: 6, changed: {}, added: [] });
    expect(await store.delete(id)).toBe(false);
  });

  test.each([...indexed, ...repositories.filter(({ kind }) => kind === "webflux")])(
    "Redis tells of it while the hash of $namespace can still be read",
    async ({ namespace }) => {
      await server.command("CONFIG", "SET", "notify-keyspace-events", "Egx");
      const listener = createClient({ url: server.url });
      await listener.connect();
      const deleted: { key: string; found: Promise<unknown> }[] = [];
      await listener.subscribe("__keyevent@0__:del", (key) => {
        const hash = key.replace("sessions:expires:", "sessions:");
        deleted.push({ key, found: server.command("HEXISTS", hash, "creationTime") });
      });
      const store = storeOf(namespace);
      const { id } = await sessionOf(store, (session) => session.maxInactiveInterval === 60);
      await store.delete(id);
      await listener.ping();
      await expect.poll(() => deleted.map(({ key }) => key)).toContain(`${namespace}:sessions:expires:${id}`);
      expect(await deleted.find(({ key }) => key.includes("expires"))!.found).toBe(1);
      listener.destroy();
      await server.command("CONFIG", "SET", "notify-keyspace-events", "");
    },
  );

  test("takes a session of WebFlux out of every index", async () => {
    const store = storeOf("webflux:jdk");
    const { id } = await sessionOf(store, (session) => session.maxInactiveInterval === 60);
    await store.delete(id);
    const left = Object.keys(await contents()).filter((key) => key.includes(id));
    expect(left.every((key) => key.startsWith(`webflux:jdk:sessions:${id} `))).toBe(true);
  });

  test("takes one out of its user's index whose user was seen by a search before", async () => {
    const store = storeOf("indexed:jdk");
    const { sessions } = await store.findByUsername!("secured");
    expect(await store.delete(sessions[0]!.id)).toBe(true);
    const left = Object.keys(await contents()).filter((key) => key.includes(sessions[0]!.id));
    expect(left.filter((key) => !key.startsWith(`indexed:jdk:sessions:${sessions[0]!.id} `))).toEqual([]);
  });

  test.each([
    ["has expired", (session: Session) => session.expired],
    ["never expires", (session: Session) => session.maxInactiveInterval === -1],
  ])("ends one that %s", async (_, matches) => {
    for (const namespace of ["indexed:jdk", "indexed:jackson3", "sorted:jdk", "webflux:jdk"]) {
      const store = storeOf(namespace);
      const { id } = await sessionOf(store, matches);
      expect(await store.delete(id)).toBe(true);
      expect(await store.findById(id)).toBeUndefined();
      const left = Object.keys(await contents()).filter((key) => key.includes(id));
      expect(left.filter((key) => !key.startsWith(`${namespace}:sessions:${id} `))).toEqual([]);
    }
  });

  test("cannot be undone by a request that was under way", async () => {
    const store = storeOf("indexed:jackson3");
    const { id } = await sessionOf(store, (session) => session.maxInactiveInterval === 60);
    await store.delete(id);
    // What RedisIndexedSessionRepository sends when that request ends.
    await server.command("HSET", `indexed:jackson3:sessions:${id}`, "lastAccessedTime", `${recordedClock() + 1000}`);
    await server.command("APPEND", `indexed:jackson3:sessions:expires:${id}`, "");
    expect(await store.findById(id)).toBeUndefined();
    expect(await server.command("HGET", `indexed:jackson3:sessions:${id}`, "maxInactiveInterval")).toBe("0");
  });

  test("removes what such a request left without a creation time", async () => {
    await server.command("HSET", "webflux:jdk:sessions:rest", "lastAccessedTime", "1", "sessionAttr:a", "x");
    await server.command("SET", "webflux:jdk:sessions:expires:rest", "");
    expect(await storeOf("webflux:jdk").delete("rest")).toBe(true);
    expect(Object.keys(await contents()).filter((key) => key.includes("rest"))).toEqual([]);
  });

  describe("of another serializer", () => {
    const hash = "other:sessions:kryo";
    const unreadable = [
      "creationTime",
      "\u0009\u0001",
      "lastAccessedTime",
      "\u0009\u0002",
      "maxInactiveInterval",
      "\u0002\u0003",
    ];
    const unsupported = { code: "UNIMPLEMENTED", reason: "DELETE_UNSUPPORTED" };

    beforeEach(() => server.command("HSET", hash, ...unreadable));

    test("is refused with the reason if bookkeeping would have to be written, and changes nothing", async () => {
      await server.command("SET", "other:sessions:expires:kryo", "");
      const before = await contents();
      for (const indexed of [undefined, true]) {
        await expect(storeOf("other", indexed).delete("kryo")).rejects.toMatchObject(unsupported);
      }
      await server.command("DEL", "other:sessions:expires:kryo");
      await expect(storeOf("other").delete("kryo")).rejects.toThrow("option indexed");
      expect(difference(before, await contents())).toEqual({
        gone: ["other:sessions:expires:kryo"],
        changed: {},
        added: [],
      });
    });

    test("works if the repository is known to be plain", async () => {
      expect(await storeOf("other", false).delete("kryo")).toBe(true);
      expect(await server.command("EXISTS", hash)).toBe(0);
    });
  });

  test("needs no more than the permissions that the documentation names", async () => {
    const commands = [
      "scan",
      "sscan",
      "hmget",
      "hkeys",
      "exists",
      "pttl",
      "smembers",
      "hset",
      "pexpire",
      "hexists",
      "srem",
      "zrem",
      "del",
    ];
    await server.command(
      "ACL",
      "SETUSER",
      "operator",
      "on",
      "nopass",
      "~*",
      "-@all",
      ...commands.map((name) => `+${name}`),
    );
    const own = new Redis(server.port, "127.0.0.1", { username: "operator", password: "x", enableReadyCheck: false });
    for (const namespace of ["indexed:jdk", "plain:jdk", "webflux:jdk"]) {
      const store = springSessions({ redis: own, namespace, clock: recordedClock });
      const { id } = await sessionOf(store, (session) => session.maxInactiveInterval === 60);
      await store.findByUsername!("alice").catch((error) => expect(error).toMatchObject({ code: "UNIMPLEMENTED" }));
      expect(await store.delete(id)).toBe(true);
    }
    own.disconnect();
  });
});
