import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { type Logger, pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import { WatchedGraph } from "../../../src/client/watched-graph.ts";
import type { FleetEngineSource } from "../../../src/fleet/engine.ts";
import {
  FleetService,
  type UnreadInstance,
  type WatchFleetLogsResponse,
} from "../../../src/gen/actuator/v3/fleet_pb.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { Scope } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { LogsService } from "../../../src/gen/actuator/v3/logs_pb.ts";
import { type Actuator, createActuator, integrationGraph, memoryFleet } from "../../../src/index.ts";
import { clientTransport } from "../../../src/peers/client-transport.ts";
import { TestServer } from "../../fleet/support.ts";
import { authority } from "../../support/certificates.ts";
import { tokensFor } from "../../support/tokens.ts";

const GRANTS = {
  all: { permissions: ["*", "logs:read"] },
  orders: { permissions: ["loggers:read", "loggers:write", "logs:read"], loggers: ["orders"] },
} as const;

interface Shop {
  readonly id: string;
  readonly actuator: Actuator;
  readonly url: string;
  readonly log: Logger;
  readonly orders: Logger;
  /** Sends a message to a channel that all shops have. */
  readonly send: () => void;
}

/** Three shops, each with a port, of which the last reads alone. */
async function shops(
  peers: { hosts?: readonly string[] } = { hosts: ["127.0.0.1"] },
  engine: FleetEngineSource = memoryFleet(),
) {
  const { file, tokens } = tokensFor(GRANTS);
  async function shop(id: string, role: "member" | "reader" = "member"): Promise<Shop> {
    const log = pino({ level: "info" }, { write: () => undefined });
    const graph = integrationGraph({ app: "shop" });
    graph.channel(`${id}-channel`);
    const send = graph.channel("shared").sender(() => undefined);
    const actuator = createActuator({
      name: "shop",
      loggers: { adapters: role === "reader" ? [] : [pinoLoggers(log)], instance: id },
      fleet: { engine, role, peers: { ...peers, ...(peers.hosts && { token: tokens.all }) } },
      integrationGraph: graph,
      access: { tokens: file },
      audit: false,
    });
    onTestFinished(() => actuator.close());
    const orders = log.child({ module: "orders" });
    const { url } = await actuator.listen({ port: 0 });
    return { id, actuator, url, log, orders, send };
  }
  const [a, b, reader] = [await shop("a"), await shop("b"), await shop("reader", "reader")];
  await expect.poll(async () => (await reader.actuator.fleet!.instances()).length).toBe(2);
  await expect.poll(async () => (await reader.actuator.fleet!.instances())[1]?.address).toBe(b.url);
  await expect.poll(async () => (await reader.actuator.fleet!.instances())[0]?.address).toBe(a.url);
  const as = (grant: keyof typeof GRANTS, { url }: Shop = reader) =>
    createClient(FleetService, clientTransport({ url, token: tokens[grant] }));
  return { a, b, reader, as, tokens, shop };
}

/** What a client of WatchFleetGraph knows. */
function watchedGraph(client: Client<typeof FleetService>) {
  const end = new AbortController();
  const events: string[] = [];
  const graph = new WatchedGraph();
  const done = (async () => {
    for await (const { event } of client.watchFleetGraph({ interval: durationFromMs(250) }, { signal: end.signal })) {
      if (event.case === "instances") {
        const { count, unread } = event.value;
        const others = unread.map(({ instance }) => instance).join(" ");
        events.push(`instances ${count}${others && `, not ${others}`}`);
      } else if (event.case === "graph") {
        if (graph.apply(event.value)?.isSnapshot) events.push("snapshot");
      }
    }
  })().catch(() => undefined);
  const nodes = () => [...graph.nodes.values()];
  return {
    events,
    nodes: () => nodes().map(({ name, instances }) => `${name}: ${instances.join(", ")}`),
    sent: (channel: string) => Number(nodes().find(({ name }) => name === channel)?.sendTimers?.successes?.count ?? 0),
    async end() {
      end.abort();
      await done;
    },
  };
}

describe.each(["reader", "a"] as const)("through %s", (through) => {
  test("loggers whose level differs are listed with the instances that have each level", async () => {
    const all = await shops();
    const fleet = all.as("all", all[through]);
    expect(await fleet.listLoggerDifferences({})).toMatchObject({ loggers: [], instances: 2, unread: [] });
    all.b.actuator.loggers!.setLevel("orders", "ERROR");
    expect(await fleet.listLoggerDifferences({})).toMatchObject({
      loggers: [
        {
          name: "orders",
          levels: [
            { level: Level.INFO, instances: ["a"] },
            { level: Level.ERROR, instances: ["b"] },
          ],
        },
      ],
      more: 0,
    });
    expect(await fleet.listLoggerDifferences({ selector: "instance=b" })).toMatchObject({ loggers: [], instances: 1 });
  });

  test("the graphs are one", async () => {
    const all = await shops();
    const { graph, instances } = await all.as("all", all[through]).getFleetGraph({});
    expect(instances).toBe(2);
    expect(graph?.nodes.map(({ name, instances: of }) => [name, of])).toEqual(
      expect.arrayContaining([
        ["a-channel", ["a"]],
        ["b-channel", ["b"]],
      ]),
    );
  });

  test("the graphs are watched as one, with the instances that come and go", async () => {
    const all = await shops();
    const seen = watchedGraph(all.as("all", all[through]));
    await expect.poll(() => seen.nodes()).toEqual(["a-channel: a", "b-channel: b", "shared: a, b"]);
    expect(seen.events[0]).toBe("instances 2");
    expect(seen.events.filter((event) => event === "snapshot")).toHaveLength(1);

    for (const shop of [all.a, all.b]) shop.send();
    await expect.poll(() => seen.sent("shared")).toBe(2);
    const c = await all.shop("c");
    await expect.poll(() => seen.nodes(), { timeout: 10_000 }).toContain("shared: a, b, c");
    await c.actuator.close();
    await expect.poll(() => seen.nodes(), { timeout: 10_000 }).toContain("shared: a, b");
    expect(seen.events).toContain("instances 3");
    // Between the end of its stream and of its report it is one that does not answer.
    await expect.poll(() => seen.events.at(-1), { timeout: 10_000 }).toBe("instances 2");
    await seen.end();
  });

  test("what loggers write arrives from all, with a level that is raised on all", async () => {
    const all = await shops();
    const end = new AbortController();
    const seen: string[] = [];
    const logs = { names: ["orders"], raise: { level: Level.DEBUG, reason: "ticket 812" } };
    const stream = all.as("all", all[through]).watchFleetLogs({ logs }, { signal: end.signal });
    const done = (async () => {
      for await (const { instance, event } of stream) {
        if (event.case !== "logs" || event.value.event.case !== "records") continue;
        for (const { message } of event.value.event.value.records) seen.push(`${instance}: ${message}`);
      }
    })().catch(() => undefined);
    await expect.poll(() => [all.a.orders.level, all.b.orders.level], { timeout: 10_000 }).toEqual(["debug", "debug"]);
    await expect
      .poll(() => {
        for (const shop of [all.a, all.b]) shop.orders.debug("sold");
        return [...new Set(seen)].sort();
      })
      .toEqual(["a: sold", "b: sold"]);
    end.abort();
    await done;
    await expect.poll(() => [all.a.orders.level, all.b.orders.level], { timeout: 10_000 }).toEqual(["info", "info"]);
  });
});

test("a caller for some loggers sees those alone", async () => {
  const all = await shops();
  for (const name of ["orders", "stock"]) all.b.actuator.loggers!.setLevel(name, "ERROR");
  const { loggers } = await all.as("orders").listLoggerDifferences({});
  expect(loggers.map(({ name }) => name)).toEqual(["orders"]);
  const end = new AbortController();
  const seen: string[] = [];
  const done = (async () => {
    for await (const { event } of all.as("orders").watchFleetLogs({}, { signal: end.signal })) {
      if (event.case !== "logs" || event.value.event.case !== "records") continue;
      seen.push(...event.value.event.value.records.map(({ logger }) => logger));
    }
  })().catch(() => undefined);
  await expect
    .poll(() => {
      all.a.log.info("whole");
      all.a.orders.info("part");
      return seen.length;
    })
    .toBeGreaterThan(2);
  expect(new Set(seen)).toEqual(new Set(["orders"]));
  end.abort();
  await done;
  await expect(all.as("orders").getFleetGraph({})).rejects.toThrow(/permission/);
  await expect(all.as("orders").watchFleetGraph({})[Symbol.asyncIterator]().next()).rejects.toThrow(/permission/);
});

test("instances that do not answer are named, with the reason", async () => {
  const all = await shops({ hosts: ["shop.example"] });
  const unread: Partial<UnreadInstance>[] = ["a", "b"].map((instance) => {
    return { instance, reason: "its host is not in `fleet.peers.hosts` here: 127.0.0.1" };
  });
  expect(await all.as("all").listLoggerDifferences({})).toMatchObject({ instances: 0, unread });
  // Without a token they refuse.
  const open = await shops({});
  const { unread: refused } = await open.as("all").listLoggerDifferences({});
  expect(refused.map(({ reason }) => reason)).toEqual(["Authentication required.", "Authentication required."]);
  const seen = watchedGraph(open.as("all"));
  await expect.poll(() => seen.events).toEqual(["instances 0, not a b", "snapshot"]);
  await seen.end();
  const first: WatchFleetLogsResponse[] = [];
  const end = new AbortController();
  for await (const response of open.as("all").watchFleetLogs({}, { signal: end.signal })) {
    first.push(response);
    break;
  }
  end.abort();
  expect(first[0]?.event).toMatchObject({ case: "unread", value: { reason: "Authentication required." } });
});

test("an engine that lost what it knew ends no stream", { tags: ["slow"] }, async () => {
  const server = new TestServer();
  const all = await shops({ hosts: ["127.0.0.1"] }, server.source(4_000));
  const seen = watchedGraph(all.as("all"));
  await expect.poll(() => seen.nodes()).toContain("shared: a, b");
  server.forget();
  await expect.poll(async () => (await all.as("all").listInstances({})).instances.length).toBe(0);
  await expect.poll(async () => (await all.as("all").listInstances({})).instances.length, { timeout: 10_000 }).toBe(2);
  expect(seen.events).toEqual(["instances 2", "snapshot"]);
  await seen.end();
});

test("over TLS, instances of an authority of their own are asked with its certificate", async () => {
  const own = await authority();
  const engine = memoryFleet();
  const start = async (instance: string, ca?: string) => {
    const actuator = createActuator({
      name: "shop",
      loggers: { adapters: [], instance },
      fleet: { engine, ...(ca !== undefined && { peers: { ca } }) },
      integrationGraph: integrationGraph({ app: "shop" }),
      audit: false,
    });
    onTestFinished(() => actuator.close());
    const { url } = await actuator.listen({ port: 0, tls: await own.issue("server") });
    return createClient(FleetService, clientTransport({ url, tls: { ca: [own.ca] } }));
  };
  const [trusts, doubts] = [await start("a", own.ca), await start("b")];
  await expect.poll(async () => (await trusts.getFleetGraph({})).instances, { timeout: 10_000 }).toBe(2);
  // Until its next report the other has no address.
  await expect
    .poll(() => doubts.getFleetGraph({}), { timeout: 10_000 })
    .toMatchObject({ instances: 1, unread: [{ instance: "a", reason: expect.stringMatching(/certificate/) }] });
});

test("a caller of certain loggers raises no group in the fleet: elsewhere it may have other members", async () => {
  const { file, tokens } = tokensFor(GRANTS);
  const actuator = createActuator({
    loggers: {
      adapters: [pinoLoggers(pino({ level: "info" }, { write: () => undefined }))],
      groups: { web: ["orders"] },
    },
    fleet: { engine: memoryFleet(), name: "shop" },
    access: { tokens: file },
    audit: false,
  });
  onTestFinished(() => actuator.close());
  const { url } = await actuator.listen({ port: 0 });
  const logs = createClient(LogsService, clientTransport({ url, token: tokens.orders }));
  const first = (raise: { level: Level; scope?: Scope }) => {
    const end = new AbortController();
    const watched = logs.watchLogs({ names: ["web"], raise }, { signal: end.signal })[Symbol.asyncIterator]();
    return watched.next().finally(() => end.abort());
  };
  await expect(first({ level: Level.TRACE, scope: Scope.FLEET })).rejects.toThrow(/permission_denied/);
  expect((await first({ level: Level.TRACE })).value!.event.case).toBe("started");
});

test("WatchLogs can raise the level on all instances, and gives it back", async () => {
  const all = await shops();
  const end = new AbortController();
  const logs = createClient(LogsService, clientTransport({ url: all.a.url, token: all.tokens.all }));
  const raise = { level: Level.DEBUG, scope: Scope.FLEET };
  for await (const { event } of logs.watchLogs({ names: ["orders"], raise }, { signal: end.signal })) {
    expect(event).toMatchObject({ case: "started", value: { raised: [{ name: "orders" }] } });
    await expect.poll(() => all.b.orders.level, { timeout: 10_000 }).toBe("debug");
    end.abort();
    break;
  }
  await expect.poll(() => [all.a.orders.level, all.b.orders.level], { timeout: 10_000 }).toEqual(["info", "info"]);
  const { generation } = await createClient(
    FleetService,
    clientTransport({ url: all.a.url, token: all.tokens.all }),
  ).listFleetLevels({});
  const fleet = { selector: "", ifGeneration: generation };
  const done = new AbortController();
  const raised = { names: ["orders", "stock"], raise: { ...raise, fleet } };
  const both = logs.watchLogs(raised, { signal: done.signal })[Symbol.asyncIterator]();
  expect(await both.next()).toMatchObject({
    value: { event: { value: { raised: [{ name: "orders" }, { name: "stock" }] } } },
  });
  const late = logs.watchLogs(raised)[Symbol.asyncIterator]();
  await expect(late.next()).rejects.toThrow(/The generation of the fleet is/);
  done.abort();
  const alone = logs.watchLogs({ names: ["orders"], raise: { ...raise, onlyHere: true } });
  await expect(alone[Symbol.asyncIterator]().next()).rejects.toThrow(/only_here does not go with scope SCOPE_FLEET/);
});
