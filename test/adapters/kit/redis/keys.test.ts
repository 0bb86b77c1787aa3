import { createClient } from "redis";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { redisCommands } from "../../../../src/adapters/kit/redis/index.ts";
import { SessionKeys } from "../../../../src/adapters/kit/redis/keys.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";

describe.runIf(requirement("redis-server", redisFound))("a walk over the keys of sessions", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());
  beforeEach(() => server.command("FLUSHALL"));

  async function connect() {
    const client = await createClient({ url: server.url }).connect();
    onTestFinished(() => client.destroy());
    const keys = new SessionKeys(redisCommands(client), { prefix: "sess:" });
    const set = (ids: readonly string[]) => client.mSet(Object.fromEntries(ids.map((id) => [`sess:${id}`, "{}"])));
    const remove = (ids: readonly string[]) => client.del(ids.map((id) => `sess:${id}`));
    return { client, keys, set, remove };
  }

  const numbered = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}${at}`);

  it.each([1, 7, 100, 1_000])("has whole pages of %i, and each session once if nothing changes", async (limit) => {
    const { client, keys, set } = await connect();
    const ids = numbered("s", limit === 1 ? 100 : 2_500);
    await set(ids);
    await client.mSet(Object.fromEntries(numbered("other", 500).map((key) => [key, ""])));
    const seen: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await keys.page(limit, after);
      seen.push(...page.ids);
      after = page.next;
      if (after === undefined) break;
      expect(page.ids).toHaveLength(limit);
    }
    expect(seen.length).toBe(ids.length);
    expect(seen.sort()).toEqual(ids.sort());
  });

  it.each([1, 2, 50])("in pages of %i meets every session that is there throughout", async (limit) => {
    const { keys, set, remove } = await connect();
    const stable = numbered("s", 40 * limit + 360);
    await set(stable);
    const missing = new Set(stable);
    let pages = 0;
    for (let after: string | undefined; ; pages++) {
      const page = await keys.page(limit, after);
      for (const id of page.ids) missing.delete(id);
      after = page.next;
      if (after === undefined) break;
      // The table grows and shrinks, over and over.
      const wave = numbered(`w${Math.floor(pages / 6)}-`, (1 + ((pages / 6) & 1) * 11) * stable.length);
      if (pages % 6 === 0) await set(wave);
      if (pages % 6 === 3) await remove(wave);
    }
    expect([...missing]).toEqual([]);
  });
});
