import type { SessionData } from "express-session";
import { createClient } from "redis";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Argument, CommandClient } from "../../../../src/adapters/kit/redis/index.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { type ApplicationOptions, startForTest } from "./application.ts";

/** A connection on which commands can be held back. */
interface SlowConnection extends CommandClient {
  /** Holds back the next command that is this one. */
  hold(is: (args: readonly string[]) => boolean): Held;
}

interface Held {
  /** Settles when the command waits. */
  readonly waiting: Promise<void>;
  /** Lets it go on. Settles when the server has answered it. */
  release(): Promise<void>;
}

const isMark = (args: readonly string[]) => args[0] === "SET" && args[1]!.includes(":ended:");
const isRecord = (args: readonly string[]) => args[0] === "HSET" && args[1]!.endsWith(":records");
const isQuestion = (args: readonly string[]) => args[0] === "EXISTS";

describe.runIf(requirement("redis-server", redisFound))("a session that another instance ends", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());
  beforeEach(() => server.command("FLUSHALL"));

  const start = (options?: ApplicationOptions) => startForTest(server.url, options);

  async function slowConnection(): Promise<SlowConnection> {
    const client = await createClient({ url: server.url })
      .on("error", () => {})
      .connect();
    onTestFinished(() => client.destroy());
    const holds = new Set<(args: readonly string[]) => Promise<void> | undefined>();
    return {
      async command(args: readonly Argument[]) {
        const texts = args.map(String);
        for (const hold of holds) await hold(texts);
        return client.sendCommand(texts);
      },
      hold(is) {
        const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const hold = (args: readonly string[]) => {
          if (!is(args)) return undefined;
          holds.delete(hold);
          reached.resolve();
          return gate.promise;
        };
        holds.add(hold);
        return {
          waiting: reached.promise,
          async release() {
            gate.resolve();
            // What was held is sent in the next turns; the connection answers in order.
            await new Promise(setImmediate);
            await client.ping();
          },
        };
      },
    };
  }

  /** A visitor whose request loaded the session and has not saved it yet. */
  async function shopping(options: ApplicationOptions = {}) {
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const beforeBasket = () => {
      begun.resolve();
      return goOn.promise;
    };
    const application = await start({ ...options, beforeBasket });
    const visitor = application.browser();
    await visitor.post("/login/alice");
    const basket = visitor.post("/basket");
    await begun.promise;
    return {
      ...application,
      id: visitor.id,
      async save() {
        goOn.resolve();
        expect((await basket).status).toBe(200);
      },
    };
  }

  const stored = () => server.command("KEYS", "sess:*");

  it("stays ended if the index receives its login after its end", async () => {
    const redis = await slowConnection();
    const record = redis.hold(isRecord);
    const here = await shopping({ sessions: { redis } });
    await record.waiting;
    expect(await (await start()).sessions.delete!(here.id)).toBe(true);
    await record.release();
    await here.save();
    await expect.poll(stored).toEqual([]);
  });

  describe.each([
    ["with an index", true, true],
    ["without an index", false, false],
    ["with an index, by one without", true, false],
  ])("%s", (_, index, elsewhere) => {
    it("stays ended if a save was on its way to the store", async () => {
      const here = await shopping({ sessions: { index } });
      const client: { set: typeof here.client.set } = here.client;
      const { set } = client;
      const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      client.set = (async (...args: Parameters<typeof set>) => {
        reached.resolve();
        await goOn.promise;
        return set.apply(here.client, args);
      }) as typeof set;
      const saved = here.save();
      await reached.promise;
      expect(await (await start({ sessions: { index: elsewhere } })).sessions.delete!(here.id)).toBe(true);
      goOn.resolve();
      await saved;
      await expect.poll(stored).toEqual([]);
    });

    it("is not even sent to the store again once this instance knows", async () => {
      const here = await shopping({ sessions: { index } });
      expect(await (await start({ sessions: { index: elsewhere } })).sessions.delete!(here.id)).toBe(true);
      await here.save();
      await expect.poll(stored).toEqual([]);
      const record = { cookie: { originalMaxAge: 60_000 }, basket: ["pear"] } as unknown as SessionData;
      await new Promise((resolve) => here.store.set(here.id, record, resolve));
      expect(await stored()).toEqual([]);
    });

    it("is not removed from the store before all know that it ends", async () => {
      const questions = await slowConnection();
      const here = await shopping({ sessions: { redis: questions, index } });
      const redis = await slowConnection();
      const mark = redis.hold(isMark);
      const ended = (await start({ sessions: { redis, index: elsewhere } })).sessions.delete!(here.id);
      await mark.waiting;
      const question = questions.hold(isQuestion);
      await here.save();
      await question.waiting;
      await question.release();
      await mark.release();
      expect(await ended).toBe(true);
      expect(await stored()).toEqual([]);
    });
  });
});
