import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { redisFleet } from "../../../src/adapters/fleet/redis/index.ts";
import { ioredis as ioredisLibrary, nodeRedis } from "../../../src/auto/libraries/redis.ts";
import { Fleet } from "../../../src/fleet/fleet.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { applicationFolder, runApplication } from "../../support/auto-application.ts";
import { expectGraphOfWiring } from "../../support/auto-graph.ts";
import { collected } from "../../support/collected.ts";
import { findingsOf } from "../../support/findings.ts";
import { type RedisServer, redisFound, startRedis } from "../../support/redis-server.ts";
import { requirement } from "../../support/requirement.ts";

const require = createRequire(import.meta.url);
let servers: RedisServer[];

/** Channels are of all databases, so each run has a Redis of its own. */
const PORT = `Number(process.env.REDIS_PORTS.split(",")[process.env.RUN])`;

/** With ioredis, `make` makes a client; the calls are those that differ. */
const IOREDIS = `
const make = () => new Redis(${PORT});
const subscribe = async (client, channel, listener) => { client.on("message", listener); await client.subscribe(channel); };
const append = (client, at) => client.xadd(at, "*", "field", "value");
const group = (client, at) => client.xgroup("CREATE", at, "billing", "0", "MKSTREAM").catch(() => {});
const read = async (client, at) => {
  const entries = await client.xreadgroup("GROUP", "billing", "one", "COUNT", 10, "STREAMS", at, ">");
  for (const [id] of entries[0][1]) await client.xack(at, "billing", id);
};
`;
const NODE_REDIS = `
const make = () => { const client = createClient({ url: "redis://127.0.0.1:" + ${PORT} }); client.connect(); return client; };
const subscribe = (client, channel, listener) => client.subscribe(channel, listener);
const append = (client, at) => client.xAdd(at, "*", { field: "value" });
const group = (client, at) => client.xGroupCreate(at, "billing", "0", { MKSTREAM: true }).catch(() => {});
const read = async (client, at) => {
  const streams = await client.xReadGroup("billing", "one", [{ key: at, id: ">" }]);
  for (const { id } of streams[0].messages) await client.xAck(at, "billing", id);
};
`;
const SHOP = `
const [cache, publisher, subscriber, other] = [make(), make(), make(), make()];
const all = [publisher, subscriber, other];
async function run() {
  let left = 3;
  let resolve;
  const done = new Promise((done) => (resolve = done));
  await subscribe(subscriber, "orders", function heard() { if (--left === 0) resolve(); });
  await cache.set("key", "value");
  await publisher.publish("orders", "first");
  await publisher.publish("orders", "second");
  await other.multi().publish("orders", "third").exec();
  await group(publisher, "jobs");
  await append(publisher, "jobs");
  await append(publisher, "jobs");
  await read(publisher, "jobs");
  await done;
}
`;

const LIBRARIES = {
  ioredis: { calls: IOREDIS, names: "{ Redis }" },
  redis: { calls: NODE_REDIS, names: "{ createClient }" },
};

describe.runIf(requirement("redis-server", redisFound))("clients of Redis without a line of ours", () => {
  beforeAll(async () => {
    servers = [await startRedis(), await startRedis()];
  });
  afterAll(async () => {
    for (const server of servers ?? []) await server.stop();
  });
  const env = () => ({ REDIS_PORTS: servers.map(({ port }) => port).join() });

  for (const [library, { calls, names }] of Object.entries(LIBRARIES)) {
    const forms = {
      "shop.mjs": `import ${names} from "${library}"; ${calls} ${SHOP} export { all, run };`,
      "shop.cjs": `const ${names} = require("${library}"); ${calls} ${SHOP} module.exports = { all, run };`,
    };
    for (const [script, text] of Object.entries(forms)) {
      const tags = library === "redis" || script.endsWith(".cjs") ? ["slow"] : [];
      test(`${library} shows the graph of explicit wiring, ${script}`, { tags }, async () => {
        for (const server of servers) await server.command("FLUSHALL");
        const { found, graph } = await expectGraphOfWiring({
          script,
          text,
          adapter: { path: "adapters/graph/redis/index.ts", name: "redisSource", adapters: "[redisSource(app.all)]" },
          env: env(),
        });
        const counts = Object.fromEntries(
          graph.nodes.map(({ name, sendTimers }) => [name, sendTimers?.successes.count]),
        );
        expect(counts).toMatchObject({ orders: 3, "orders.heard": 3, jobs: 2, "jobs.billing": 2 });
        expect((await found.describe()).shows.integrationGraph).toEqual(["redis"]);
        expect(found.output().stderr).toBe("");
      });
    }

    test(`${library} shows nothing of a cache`, async () => {
      const text = `import ${names} from "${library}"; ${calls} await make().set("key", "value"); process.exit(4);`;
      const folder = applicationFolder({ "cache.mjs": text });
      const cache = runApplication(folder, "cache.mjs", { env: { ...env(), RUN: "0" } });
      expect(await cache.exit()).toBe(4);
      expect(readdirSync(folder.env.XDG_RUNTIME_DIR!)).toEqual([]);
    });
  }
});

describe.runIf(requirement("redis-server", redisFound))("a client of Redis that exists already", () => {
  beforeAll(async () => {
    servers = [await startRedis()];
  });
  afterAll(() => servers?.[0]?.stop());

  const made = {
    ioredis: {
      library: ioredisLibrary,
      exports: { default: Redis },
      make: async () => {
        const client = new Redis(servers[0]!.port);
        return { client, close: () => closed(client, () => client.disconnect()) };
      },
    },
    "node-redis": {
      library: nodeRedis,
      exports: { default: baseOf(createClient()) },
      make: async () => {
        const client = createClient({ url: servers[0]!.url });
        await client.connect();
        return { client, close: () => closed(client, () => client.destroy()) };
      },
    },
  };

  for (const [name, { library, exports, make }] of Object.entries(made)) {
    function watchAll() {
      const flow = integrationGraph({ app: "shop" });
      const findings = findingsOf(flow);
      const undo = library.watch(exports, findings, require.resolve(name === "ioredis" ? name : "@redis/client"));
      const end = () => {
        findings.end();
        undo();
      };
      onTestFinished(end);
      const sent = () => flow.graph.snapshot().nodes.find((node) => node.name === "late")?.sendTimers?.successes.count;
      return { sent, end };
    }

    test(`${name}: is shown with its next message, and is left as it was`, async () => {
      const { client, close } = await make();
      const own = () => Object.getOwnPropertyDescriptors(exports.default.prototype);
      const before = own();
      const { sent, end } = watchAll();
      await client.set("key", "value");
      expect(sent()).toBeUndefined();
      await client.publish("late", "first");
      await client.publish("late", "second");
      expect(sent()).toBe(2);
      const listeners = client.listenerCount("end");
      end();
      expect(client.listenerCount("end")).toBe(listeners - 1);
      expect(own()).toEqual(before);
      await close();
    });

    test(`${name}: is shown again after it was closed, and is not held`, async () => {
      const { sent } = watchAll();
      async function publishAndClose() {
        const { client, close } = await make();
        await client.publish("late", "first");
        await close();
        return new WeakRef<object>(client);
      }
      const refs = [await publishAndClose(), await publishAndClose()];
      expect(sent()).toBe(2);
      await collected(refs);
    });
  }

  for (const [name, { library, exports, make }] of Object.entries(made)) {
    test(`${name}: clients of the fleet are not shown`, async () => {
      const flow = integrationGraph({ app: "shop" });
      const findings = findingsOf(flow);
      const path = require.resolve(name === "ioredis" ? name : "@redis/client");
      const undo = [library.watch(exports, findings, path), library.meet?.(exports, findings, path), findings.end];
      onTestFinished(() => {
        for (const each of undo.toReversed()) each?.();
      });
      const { client, close } = await make();
      const options = { engine: redisFleet(client), name: "shop", role: "reader" } as const;
      const fleet = new Fleet(options, { startTime: 0, loggers: undefined, ttl: {} });
      // With a hint to all instances, this one too.
      await expect
        .poll(() =>
          fleet.setLevel("orders", "DEBUG", { selector: "zone=eu" }).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      await fleet.close();
      expect(flow.graph.snapshot().nodes).toEqual([]);
      await client.publish("late", "first");
      expect(flow.graph.snapshot().nodes.map((node) => node.name)).toContain("late");
      await close();
    });
  }

  test("ioredis: a class of the application sends its first message once", async () => {
    const findings = findingsOf(integrationGraph({ app: "shop" }));
    const undo = ioredisLibrary.watch({ default: Redis }, findings, require.resolve("ioredis"));
    onTestFinished(() => {
      findings.end();
      undo();
    });
    const sent: string[] = [];
    class Own extends Redis {
      override sendCommand(...args: Parameters<Redis["sendCommand"]>) {
        sent.push(args[0].name);
        return super.sendCommand(...args);
      }
    }
    const client = new Own(servers[0]!.port);
    await client.ping();
    sent.length = 0;
    await client.publish("late", "first");
    await client.publish("late", "second");
    expect(sent).toEqual(["publish", "publish"]);
    await closed(client, () => client.disconnect());
  });
});

async function closed(client: { once(event: "end", listener: () => void): unknown }, close: () => void): Promise<void> {
  const end = new Promise<void>((resolve) => client.once("end", resolve));
  close();
  await end;
}

/** The class of all clients of node-redis. */
function baseOf(client: object): { prototype: object } {
  let at = client;
  while (!Object.hasOwn(at, "sendCommand")) at = Object.getPrototypeOf(at) as object;
  return at.constructor as unknown as { prototype: object };
}
