import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RedisCommands, redisCommands } from "../../../../src/adapters/kit/redis/index.ts";
import { type IndexedSession, SessionIndex } from "../../../../src/adapters/kit/redis/session-index.ts";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import { indexedIds } from "../../../support/redis-index.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";

const MINUTE = 60_000;

describe.runIf(requirement("redis-server", redisFound))("an index of sessions", () => {
  let server: RedisServer;
  let redis: RedisCommands;
  let index: SessionIndex;
  beforeAll(async () => {
    server = await startRedis();
    redis = redisCommands(server.url);
  });
  afterAll(async () => {
    await redis?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    await server.command("FLUSHALL");
    index = newIndex();
  });

  const newIndex = () => new SessionIndex(redis, { prefix: "idx:", principal: "p", slackMs: MINUTE });

  const session = (id: string, expiryTime: number, username: string | null = "alice"): IndexedSession => {
    const now = Date.now();
    return {
      id,
      username: username ?? undefined,
      accessedTime: now,
      creationTime: now,
      firstSeenTime: now,
      expiryTime,
    };
  };
  async function used(): Promise<number> {
    const keys = (await server.command("KEYS", "*")) as string[];
    const sizes = await Promise.all(keys.map((key) => server.command("MEMORY", "USAGE", key)));
    return sizes.reduce((sum: number, size) => sum + Number(size), 0);
  }
  const noneLeft = async (ids: readonly string[]) => ids.map(() => undefined);

  it("finds the ids of a user, whatever names come before and after in the alphabet", async () => {
    const users = ["", "alice", "alicf", "bob", "\u{1f600}", null];
    for (const [at, user] of users.entries()) {
      for (const id of [`a${at}`, `\u{10ffff}${at}`, `:${at}`]) await index.put(session(id, Date.now(), user), true);
    }
    for (const [at, user] of users.entries()) {
      if (user === null) continue;
      expect((await index.idsOfUser(user, 9)).sort()).toEqual([`:${at}`, `a${at}`, `\u{10ffff}${at}`]);
    }
  });

  describe("claims to hold every session", () => {
    const claim = async () => index.claim.make(await index.claim.basis());

    it.each(["accessed", "expires", "users", "records", "state"])("until its key %s is gone", async (key) => {
      await index.put(session("a", Date.now() + MINUTE), true);
      await claim();
      expect(await index.claim.holds()).toBe(true);
      await server.command("DEL", `idx:${key}`);
      expect(await index.claim.holds()).toBe(false);
      // A write makes the key anew.
      await index.put(session("b", Date.now() + MINUTE), true);
      expect(await index.claim.holds()).toBe(false);
      await claim();
      expect(await newIndex().claim.holds()).toBe(true);
    });

    it("only if no key was lost during the search on which the claim rests", async () => {
      const basis = await index.claim.basis();
      await index.put(session("a", Date.now() + MINUTE), true);
      await server.command("DEL", "idx:users");
      await index.put(session("b", Date.now() + MINUTE), true);
      await index.claim.basis();
      await index.claim.make(basis);
      expect(await index.claim.holds()).toBe(false);
    });
  });

  describe("prunes", () => {
    const overdue = 50_000;

    async function fill(): Promise<number> {
      const long = Date.now() - 10 * MINUTE;
      await index.claim.basis();
      await index.put(session("alive", Date.now() + MINUTE), true);
      const before = await used();
      for (let first = 0; first < overdue; first += 1_000) {
        const some = Array.from({ length: 1_000 }, (_, at) => `${first + at}`);
        await index.fill(some.map((id) => session(id, long, Number(id) % 3 === 0 ? null : `user-${id}`)));
      }
      return before;
    }

    it("all sessions that should have expired, and leaves no memory behind", async () => {
      const before = await fill();
      const full = await used();
      // Three processes: one of them does the work.
      await Promise.all([index, newIndex(), newIndex()].map((each) => each.prune(noneLeft)));
      for (const set of ["accessed", "expires", "users"])
        expect(await indexedIds(server, `idx:${set}`)).toEqual(["alive"]);
      expect(await server.command("HLEN", "idx:records")).toBe(2);
      expect((await server.command("KEYS", "*")) as string[]).toHaveLength(5);
      // Redis shrinks its tables as they are used again.
      expect((await used()) - before).toBeLessThan(full / 5);
    });

    it("nothing while another process does, until that ends without a word", async () => {
      await index.put(session("a", 1), true);
      await server.command("SET", "idx:pruning", "", "PX", "60000");
      await index.prune(noneLeft);
      expect(await indexedIds(server, "idx:expires")).toEqual(["a"]);
      await server.command("DEL", "idx:pruning");
      await index.prune(noneLeft);
      expect(await indexedIds(server, "idx:expires")).toEqual([]);
    });

    it("no session that its store still has, and corrects its user and expiry", async () => {
      await index.put(session("a", 1, "alice"), true);
      await index.put(session("b", 1, "alice"), true);
      await index.put(session("c", 1, "alice"), true);
      const later = Date.now() + MINUTE;
      let reads = 0;
      await index.prune(async (ids) => {
        reads++;
        return ids.map((id) => {
          if (id === "a") return session("a", later, "bob");
          // Saved again while the index forgot it.
          return id === "c" && reads === 2 ? session("c", later) : undefined;
        });
      });
      expect(await index.idsOfUser("alice", 9)).toEqual(["c"]);
      expect(await index.idsOfUser("bob", 9)).toEqual(["a"]);
      expect((await indexedIds(server, "idx:expires")).sort()).toEqual(["a", "c"]);
      expect(await index.idOf(sessionDigest("b"))).toBeUndefined();
      expect(await index.count()).toBe(2);
    });
  });
});
