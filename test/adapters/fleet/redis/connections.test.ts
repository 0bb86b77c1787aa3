// @module-tag slow
import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { pathToFileURL } from "node:url";
import { Redis } from "ioredis";
import { createClient, createSentinel } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { RedisEngine } from "../../../../src/adapters/fleet/redis/engine.ts";
import { type RedisFleetClient, redisFleet } from "../../../../src/adapters/fleet/redis/index.ts";
import { nodeRedisDial } from "../../../../src/adapters/fleet/redis/node-redis.ts";
import { type FleetEngine, FleetRefusal } from "../../../../src/fleet/engine.ts";
import { startSentinel } from "../../../support/redis-sentinel.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { until } from "../../../support/until.ts";

const clients: Record<string, (url: string) => RedisFleetClient> = {
  redis: (url) => createClient({ url }),
  ioredis: (url) => new Redis(url, { lazyConnect: true }),
};

const entry = pathToFileURL(`${import.meta.dirname}/../../../../src/adapters/fleet/redis/index.ts`).href;

describe.runIf(requirement("redis-server", redisFound)).each(Object.entries(clients))(
  "connections of redisFleet by %s",
  (library, clientOf) => {
    let server: RedisServer;
    let fleets = 0;

    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server.stop());

    function open(url = server.url): FleetEngine {
      const engine = redisFleet(clientOf(url)).open(`f${++fleets}`);
      onTestFinished(() => engine.close());
      return engine;
    }

    const works = (engine: FleetEngine, text = "") =>
      engine.exchange("", { id: "a", text }).then(
        () => true,
        () => false,
      );

    /** Of the server, but for the fixture's own. */
    const count = async () => `${await server.command("CLIENT", "LIST")}`.trim().split("\n").length - 1;

    test("are few, closed by a reset, and all closed at the end", async () => {
      const engine = open();
      await until(() => works(engine));
      for (let round = 0; round < 5; round++) {
        await engine.reset();
        await engine.reset();
        await until(() => works(engine));
      }
      const expected = library === "redis" ? 1 : 2;
      await until(async () => (await count()) === expected);
      await engine.close("a");
      await until(async () => (await count()) === 0);
      expect(await works(engine)).toBe(false);
    });

    test("give an empty hint after they were lost", async () => {
      const engine = open();
      const heard: (string | undefined)[] = [];
      engine.onHint((hint) => heard.push(hint));
      await until(() => works(engine));
      await until(() => heard.length > 0);
      const before = heard.length;
      await server.command("CLIENT", "KILL", "TYPE", "pubsub");
      await until(() => heard.length > before);
      expect(heard.at(-1)).toBeUndefined();
      await until(() => works(engine));
    });

    test("leave a server that became a replica", async () => {
      const engine = open();
      await until(() => works(engine));
      const before = (await server.command("CLIENT", "LIST")) as string;
      await server.command("REPLICAOF", "127.0.0.1", "1");
      try {
        await expect(engine.exchange("", { id: "a", text: "" })).rejects.toThrow(/READONLY/);
      } finally {
        await server.command("REPLICAOF", "NO", "ONE");
      }
      await until(() => works(engine));
      const ids = (list: string) => new Set(list.match(/(?<=\bid=)\d+/g));
      const after = ids((await server.command("CLIENT", "LIST")) as string);
      // Only that of the fixture is left.
      expect([...ids(before)].filter((id) => after.has(id))).toHaveLength(1);
    });

    test("tell that a server without memory has refused", async () => {
      const engine = open();
      await until(() => works(engine));
      await server.command("CONFIG", "SET", "maxmemory", "1");
      try {
        const refused = engine.store({ version: "1", text: "{}" }, "", "");
        await expect(refused).rejects.toBeInstanceOf(FleetRefusal);
      } finally {
        await server.command("CONFIG", "SET", "maxmemory", "0");
      }
      expect(await engine.store({ version: "1", text: "{}" }, "", "")).toBe(true);
    });

    test("are given up if the server does not answer a ping", async () => {
      const engine = open();
      await until(() => works(engine));
      server.freeze();
      try {
        await expect(engine.exchange("")).rejects.toThrow();
        await expect(engine.exchange("")).rejects.toThrow(
          "There is no connection to Redis: The server does not answer.",
        );
      } finally {
        server.thaw();
      }
      await until(() => works(engine));
    });

    test("need only the documented permissions", async () => {
      const commands = ["eval", "hset", "hget", "hgetall", "hdel", "time", "publish", "subscribe", "ping"];
      if (library === "redis") commands.push("hello");
      const rights = ["on", ">secret", "~{ca:*", "&{ca:*", "-@all", ...commands.map((each) => `+${each}`)];
      await server.command("ACL", "SETUSER", `fleet-${library}`, "reset", ...rights);
      const engine = open(`redis://fleet-${library}:secret@${server.host}:${server.port}`);
      const heard: (string | undefined)[] = [];
      engine.onHint((hint) => heard.push(hint));
      await until(() => works(engine));
      expect(await engine.store({ version: "1", text: "{}" }, "", "hint")).toBe(true);
      await until(() => heard.includes("hint"));
      expect(await engine.instances()).toHaveLength(1);
      await engine.close("a");
      expect(await server.command("HLEN", `{ca:f${fleets}}:instances`)).toBe(0);
    });

    test("do not show the password of a user that is refused", async () => {
      const engine = open(`redis://someone:hidden-word@${server.host}:${server.port}`);
      const failure = () =>
        engine.exchange("").then(
          () => "",
          (error: Error) => `${error.message} ${error.stack} ${JSON.stringify(error)}`,
        );
      await until(async () => (await failure()).includes("WRONGPASS"));
      expect(await failure()).not.toContain("hidden-word");
    });

    test("reports of killed instances are removed after a minute", async () => {
      const engine = open();
      const key = `{ca:f${fleets}}:instances`;
      await server.command("HSET", key, "old", `${Date.now() - 61_000} {}`, "young", `${Date.now() - 30_000} {}`);
      await until(() => works(engine));
      await until(async () => (await server.command("HLEN", key)) === 2);
      await server.command("HSET", key, "old", `${Date.now() - 61_000} {}`);
      expect((await engine.instances()).map(({ id }) => id).sort()).toEqual(["a", "young"]);
    });

    test.each(["there", "away"])("do not keep the process alive if the server is %s", async (state) => {
      const url = state === "there" ? server.url : "redis://127.0.0.1:1";
      const client =
        library === "redis" ? `createClient({ url: "${url}" })` : `new Redis("${url}", { lazyConnect: true })`;
      const script = `import { redisFleet } from ${JSON.stringify(entry)};
        import { createClient } from "redis";
        import { Redis } from "ioredis";
        const engine = redisFleet(${client}).open("exit");
        const hold = setTimeout(() => {}, 60_000);
        const seen = new Promise((resolve) => engine.onHint(resolve));
        if (${state === "there"}) await seen;
        clearTimeout(hold);
        console.log("done");`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let output = "";
      child.stdout.on("data", (data) => (output += data));
      expect(await once(child, "exit")).toEqual([0, null]);
      expect(output).toBe("done\n");
    });
  },
);

test.runIf(requirement("redis-server", redisFound))("pings leave no listeners behind", async () => {
  await using server = await startRedis();
  const dial = nodeRedisDial(createClient({ url: server.url }));
  let signal: AbortSignal | undefined;
  let pings = 0;
  const engine = new RedisEngine("shop", async (use) => {
    signal = use.signal;
    const { send, ping } = await dial(use);
    const counted = () => {
      pings++;
      return ping();
    };
    return { send, ping: counted };
  });
  onTestFinished(() => engine.close());
  await until(() => pings === 1);
  const listeners = getEventListeners(signal!, "abort").length;
  await until(() => pings === 3);
  expect(getEventListeners(signal!, "abort")).toHaveLength(listeners);
});

test.each(["", "localhost:6379", "http://user:hidden-word@host", "redis://user:hidden-word@ho st"])(
  "refuses the URL %j without showing it",
  (url) => {
    expect(() => redisFleet(url)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.not.stringContaining("hidden-word") }),
    );
  },
);

test.runIf(requirement("redis-server", redisFound))("a sentinel that does not answer is passed over", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const sentinels = [await startSentinel(server), await startSentinel(server)];
  const client = new Redis({
    sentinels: sentinels.map(({ host, port }) => ({ host, port })),
    name: "main",
    lazyConnect: true,
  });
  const engine = redisFleet(client).open("shop");
  onTestFinished(() => engine.close());
  const works = () => engine.exchange("").then(Boolean, () => false);
  await until(works);
  sentinels[0]!.freeze();
  await engine.reset();
  await until(works);
});

test("sentinels of node-redis are refused by name", () => {
  const sentinel = createSentinel({ name: "main", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] });
  expect(() => redisFleet(sentinel as never)).toThrow(/takes no sentinels of redis/);
});

test.each([undefined, null, {}, 5, { duplicate() {} }])("refuses %j as a client", (client) => {
  expect(() => redisFleet(client as never)).toThrow(/^redisFleet needs a URL like/);
});
