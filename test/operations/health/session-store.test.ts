import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Health, sessionStoreCheck } from "../../../src/operations/health/health.ts";
import { startApplication } from "../../adapters/sessions/connect-redis/application.ts";
import { type RedisServer, redisFound, startRedis } from "../../support/redis-server.ts";
import { requirement } from "../../support/requirement.ts";

describe.runIf(requirement("redis-server", redisFound))("the health of sessions in Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  /** With so many milliseconds before the store gives up, and before the check does. */
  async function start(timeout = 10_000, timeoutMs = 2_000) {
    const application = await startApplication(server.url, { sessions: { timeoutMs: timeout } });
    onTestFinished(() => application.close());
    const heard: string[] = [];
    const health = new Health(
      { timeoutMs, cacheMs: 0 },
      { builtIn: { sessions: sessionStoreCheck(application.sessions) }, onError: (_, context) => heard.push(context) },
    );
    return { health, heard, sessions: async () => (await health.check()).components.get("sessions") };
  }

  test("is UP while it answers, DOWN within the time that checks have while it hangs, and UP again", async () => {
    const { health, heard, sessions } = await start();
    expect(await sessions()).toEqual({ status: "UP" });
    server.freeze();
    const hanging = await sessions().finally(() => server.thaw());
    expect(hanging).toEqual({ status: "DOWN", error: "Timeout" });
    expect(health.status).toBe("DOWN");
    await expect.poll(sessions).toEqual({ status: "UP" });
    expect(heard).toEqual(["health of sessions"]);
  });

  test("is UP with a warning if Redis may evict the index", async () => {
    const { sessions } = await start();
    onTestFinished(async () => void (await server.command("CONFIG", "SET", "maxmemory", "0")));
    await server.command("CONFIG", "SET", "maxmemory", "100mb");
    for (const policy of ["noeviction", "volatile-lru", "volatile-ttl"]) {
      await server.command("CONFIG", "SET", "maxmemory-policy", policy);
      expect(await sessions()).toEqual({ status: "UP" });
    }
    await server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const warnings = [expect.stringMatching(/maxmemory-policy is allkeys-lru.*Use noeviction or volatile-lru/)];
    expect(await sessions()).toEqual({ status: "UP", warnings });
    await server.command("CONFIG", "SET", "maxmemory", "0");
    expect(await sessions()).toEqual({ status: "UP" });
  });

  test("is DOWN in the words of the store, where that gives up first", async () => {
    const { sessions } = await start(1_000, 30_000);
    expect(await sessions()).toEqual({ status: "UP" });
    server.freeze();
    const hanging = await sessions().finally(() => server.thaw());
    expect(hanging).toEqual({ status: "DOWN", error: "ActuatorError", code: "UNAVAILABLE" });
    await expect.poll(sessions).toEqual({ status: "UP" });
  });
});
