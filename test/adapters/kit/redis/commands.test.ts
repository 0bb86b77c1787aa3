// @module-tag slow
import { once } from "node:events";
import { type AddressInfo, connect as connectTo, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { redisCommands } from "../../../../src/adapters/kit/redis/index.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { freePort } from "../../../support/server-process.ts";
import { CLIENTS, type TestClient } from "./clients.ts";

const TIMEOUT = 2_000;

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
afterAll(() => expect(unhandled).toEqual([]));

describe.runIf(requirement("redis-server", redisFound))("commands to Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  async function connect(make: (typeof CLIENTS)[string], timeout = 5_000): Promise<TestClient["commands"]> {
    const { commands, end } = await make({ url: server.url, timeout });
    onTestFinished(end);
    return commands;
  }

  describe.each(Object.entries(CLIENTS))("by %s", (_, make) => {
    it("answers with strings, numbers, null and lists of these", async () => {
      const { command } = await connect(make);
      await command(["DEL", "text", "hash", "scores"]);
      expect(await command(["SET", "text", "é"])).toBe("OK");
      expect(await command(["GET", "text"])).toBe("é");
      expect(await command(["GET", "nothing"])).toBeNull();
      expect(await command(["MGET", "text", "nothing"])).toEqual(["é", null]);
      expect(await command(["HSET", "hash", "a", "1", "b", "2"])).toBe(2);
      expect(await command(["HGETALL", "hash"])).toEqual(["a", "1", "b", "2"]);
      await command(["ZADD", "scores", "1.5", "m"]);
      const scores = (await command(["ZRANGE", "scores", "0", "-1", "WITHSCORES"])) as unknown[];
      expect(scores.flat().map(String)).toEqual(["m", "1.5"]);
    });

    it("answers with bytes on request, and takes bytes", async () => {
      const { command, commandForBuffers } = await connect(make);
      const bytes = Buffer.from([0xac, 0xed, 0x00, 0xff]);
      await command(["DEL", "bytes"]);
      await command(["HSET", "bytes", "name", bytes]);
      expect(await commandForBuffers(["HGETALL", "bytes"])).toEqual([Buffer.from("name"), bytes]);
      expect(await commandForBuffers(["HMGET", "bytes", Buffer.from("name"), "none"])).toEqual([bytes, null]);
    });

    it("carries out the commands of one turn in their order", async () => {
      const { command } = await connect(make);
      await command(["DEL", "list"]);
      const numbers = Array.from({ length: 500 }, (_, number) => `${number}`);
      await Promise.all(numbers.map((number) => command(["RPUSH", "list", number])));
      const list = (await command(["LRANGE", "list", "0", "-1"])) as string[];
      // A pool spreads them over its connections.
      expect(list.toSorted((a, b) => Number(a) - Number(b))).toEqual(numbers);
    });

    it("is unavailable while the server hangs, and back when it goes on", async () => {
      const { command } = await connect(make, TIMEOUT);
      expect(await command(["PING"])).toBe("PONG");
      server.freeze();
      try {
        const began = performance.now();
        const failed = await Promise.allSettled([command(["GET", "text"]), command(["GET", "text"])]);
        expect(performance.now() - began).toBeLessThan(10 * TIMEOUT);
        for (const each of failed) {
          expect(each).toMatchObject({ reason: { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" } });
        }
      } finally {
        server.thaw();
      }
      await expect.poll(() => command(["PING"]).catch(String)).toBe("PONG");
    });

    it("is unavailable while the server is gone, and back when it is there again", async () => {
      const { command } = await connect(make, TIMEOUT);
      await command(["SET", "count", "0"]);
      await server.kill();
      const failed = command(["INCR", "count"]);
      await expect(failed).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" });
      await expect(failed).rejects.not.toMatchObject({ message: expect.stringMatching(/127\.0|count/) });
      await server.restart();
      await expect.poll(() => command(["PING"]).catch(String)).toBe("PONG");
      // What was reported as failed while it waited to be sent did not happen later.
      expect(await command(["GET", "count"])).toBe("0");
    });
  });

  it.each([
    ["the wrong kind of value", ["GET", "hash"], "SESSION_STORE_WRONG_TYPE", "The key holds a different type than"],
    ["a command that the server does not know", ["NONSENSE"], "SESSION_STORE_REFUSED", "offer the command NONSENSE"],
    ["a command that the user may not use", ["FLUSHALL"], "SESSION_STORE_REFUSED", "no permission in Redis"],
    ["a key that the user may not use", ["GET", "other"], "SESSION_STORE_REFUSED", "no permission in Redis"],
  ])("says plainly that there is %s", async (_, args, reason, message) => {
    await server.command("ACL", "SETUSER", "reader", "on", ">of-a-test", "~hash", "+@all", "-flushall");
    await server.command("HSET", "hash", "a", "1");
    const commands = redisCommands(server.url.replace("//", "//reader:of-a-test@"));
    onTestFinished(() => commands.close());
    const error = await failureOf(commands.command(args));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", reason, message: expect.stringContaining(message) });
    expect(error.message).not.toMatch(/reader|other|hash|127\./);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it("says plainly that the password is wrong, without the password", async () => {
    await server.command("ACL", "SETUSER", "guarded", "on", ">right", "~*", "+@all");
    const commands = redisCommands(server.url.replace("//", "//guarded:wr0ng-pass@"));
    onTestFinished(() => commands.close());
    const error = await failureOf(commands.command(["PING"]));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", message: expect.stringContaining("password") });
    expect(`${error.stack} ${(error.cause as Error).stack} ${JSON.stringify(error.cause)}`).not.toContain("wr0ng-pass");
  });

  it("gives up a connection that swallows what is sent, and makes another", async () => {
    const path = await swallowingPath(server);
    onTestFinished(() => path.close());
    const commands = redisCommands(`redis://127.0.0.1:${path.port}`, { timeoutMs: TIMEOUT });
    onTestFinished(() => commands.close());
    expect(await commands.command(["PING"])).toBe("PONG");
    path.swallow();
    const first = failureOf(commands.command(["PING"]));
    await delay(TIMEOUT / 2);
    // Something is sent again and again, so that the connection never looks idle.
    const second = failureOf(commands.command(["PING"]));
    expect(await first).toMatchObject({ code: "UNAVAILABLE" });
    expect(await commands.command(["PING"])).toBe("PONG");
    expect(await second).toMatchObject({ code: "UNAVAILABLE" });
  });

  it("keeps a live connection, however long it is idle", async () => {
    const commands = redisCommands(server.url, { timeoutMs: TIMEOUT });
    onTestFinished(() => commands.close());
    const connection = await commands.command(["CLIENT", "ID"]);
    await delay(3 * TIMEOUT);
    expect(await commands.command(["CLIENT", "ID"])).toBe(connection);
  });

  it("notices by itself that an idle connection is dead", async () => {
    const path = await swallowingPath(server);
    onTestFinished(() => path.close());
    const commands = redisCommands(`redis://127.0.0.1:${path.port}`, { timeoutMs: TIMEOUT });
    onTestFinished(() => commands.close());
    await commands.command(["PING"]);
    path.swallow();
    await expect.poll(path.swallowed).toBe(0);
    expect(await commands.command(["PING"])).toBe("PONG");
  });

  it("waits for an ioredis client that is still connecting", async () => {
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    expect(client.status).toBe("connecting");
    expect(await redisCommands(client).command(["PING"])).toBe("PONG");
  });

  it("adds one listener to ioredis, however many commands wait for it, and so causes no warning", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const client = new Redis({ port: await freePort(), retryStrategy: () => 60_000 });
    onTestFinished(() => client.disconnect());
    client.on("error", () => {});
    await new Promise((resolve) => client.once("reconnecting", resolve));
    const before = client.listenerCount("ready");
    const commands = redisCommands(client, { timeoutMs: 1_000 });
    const pings = Array.from({ length: 50 }, () => commands.command(["PING"]));
    expect(client.listenerCount("ready")).toBeLessThanOrEqual(before + 1);
    for (const outcome of await Promise.allSettled(pings)) {
      expect(outcome).toMatchObject({ reason: { code: "UNAVAILABLE" } });
    }
    expect(client.listenerCount("ready")).toBeLessThanOrEqual(before + 1);
    expect(warnings).toEqual([]);
  });

  it("leaves the application's client open, and ends a connection of its own", async () => {
    const client = createClient({ url: server.url });
    onTestFinished(() => client.destroy());
    await client.connect();
    await redisCommands(client).close();
    expect(await client.ping()).toBe("PONG");
    const own = redisCommands(server.url);
    await own.command(["PING"]);
    await own.close();
    await expect(own.command(["PING"])).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("takes anything that can send a command", async () => {
    const sent: unknown[] = [];
    const { command, commandForBuffers } = redisCommands({
      command: async (args) => {
        sent.push(args);
        if (args[0] === "FAIL") throw new Error("LOADING Redis is loading the dataset in memory");
        return "OK";
      },
    });
    expect(await command(["SET", "a", "b"])).toBe("OK");
    expect(sent).toEqual([["SET", "a", "b"]]);
    await expect(command(["FAIL"])).rejects.toMatchObject({ code: "UNAVAILABLE", message: /still loading/ });
    await expect(commandForBuffers(["GET", "a"])).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

/** A way to the server. From `swallow` on, connections made before stay open and carry nothing, as behind a firewall. */
async function swallowingPath({ port }: RedisServer) {
  const swallowed = new Set<Socket>();
  const open = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connectTo({ port, host: "127.0.0.1" });
    open.add(near);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (chunk) => swallowed.has(near) || to.write(chunk));
      from.on("error", () => {});
    }
    near.on("close", () => {
      far.destroy();
      open.delete(near);
      swallowed.delete(near);
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    port: (proxy.address() as AddressInfo).port,
    swallow: () => {
      for (const socket of open) swallowed.add(socket);
    },
    swallowed: () => swallowed.size,
    close: () => {
      proxy.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.unreachable(),
    (error) => error,
  );
}

it.each([
  ["another protocol", "http://user:secret@host"],
  ["no URL", "redis user:secret"],
  ["nothing", undefined],
  ["no client", { get: () => {} }],
  ["ioredis with a prefix", Object.assign(Object.create(Redis.prototype), { options: { keyPrefix: "a:" } })],
])("refuses %s", (_, source) => {
  let error: unknown;
  try {
    redisCommands(source as string);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", metadata: { field: "redis" } });
  expect(String((error as Error).stack)).not.toContain("secret");
});
