import * as jetstreamLibrary from "@nats-io/jetstream";
import * as core from "@nats-io/nats-core/internal";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { natsFleet } from "../../../src/adapters/fleet/nats/index.ts";
import { nats } from "../../../src/auto/libraries/nats.ts";
import { Fleet } from "../../../src/fleet/fleet.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { expectGraphOfWiring } from "../../support/auto-graph.ts";
import { collected } from "../../support/collected.ts";
import { findingsOf } from "../../support/findings.ts";
import { type NatsServer, natsFound, startNats } from "../../support/nats-server.ts";
import { requirement } from "../../support/requirement.ts";

let servers: NatsServer[];

/** With `connect`, `streams(connection)` and `manager(connection)` of one version. */
const SHOP = `
const server = process.env.NATS.split(",")[process.env.RUN];
const connecting = connect({ servers: server });
const all = connecting.then((connection) => [connection, streams(connection)]);
async function run() {
  const connection = await connecting;
  let left = 3;
  let resolve;
  const done = new Promise((done) => (resolve = done));
  connection.subscribe("orders.*", { queue: "billing", callback: function charge() { if (--left === 0) resolve(); } });
  connection.subscribe("quote", { callback: (error, message) => void message.respond("7") });
  connection.publish("orders.new", "x");
  connection.publish("orders.new", "x");
  connection.publish("orders.paid", "x");
  await connection.request("quote");
  const jsm = await manager(connection);
  await jsm.streams.add({ name: "JOBS", subjects: ["jobs.*"] });
  await jsm.consumers.add("JOBS", { durable_name: "worker", ack_policy: "explicit" });
  await streams(connection).publish("jobs.bill", "x");
  await streams(connection).publish("jobs.bill", "x");
  const consumer = await streams(connection).consumers.get("JOBS", "worker");
  for (let i = 0; i < 2; i++) (await consumer.next()).ack();
  await connection.flush();
  await done;
}
`;
const VERSION_3 = `const streams = (connection) => jetstream(connection); const manager = (connection) => jetstreamManager(connection);`;
const FORMS = {
  "shop.mjs": `import { connect } from "@nats-io/transport-node"; import { jetstream, jetstreamManager } from "@nats-io/jetstream"; ${VERSION_3} ${SHOP} export { all, run };`,
  "shop.cjs": `const { connect } = require("@nats-io/transport-node"); const { jetstream, jetstreamManager } = require("@nats-io/jetstream"); ${VERSION_3} ${SHOP} module.exports = { all, run };`,
};

describe.runIf(requirement("nats-server", natsFound))("NATS without a line of ours", () => {
  beforeAll(async () => {
    servers = [await startNats({ serverName: "n" }), await startNats({ serverName: "n" })];
  });
  afterAll(async () => {
    for (const server of servers ?? []) await server.stop();
  });

  for (const [script, text] of Object.entries(FORMS)) {
    const tags = script.endsWith(".cjs") ? ["slow"] : [];
    test(`shows the graph of explicit wiring, ${script}`, { tags }, async () => {
      for (const server of servers) await removeStreams(server);
      const { found, graph } = await expectGraphOfWiring({
        script,
        text,
        adapter: {
          path: "adapters/graph/nats/index.ts",
          name: "natsSource",
          adapters: "[natsSource(await app.all, { streams: false })]",
        },
        env: { NATS: servers.map(({ url }) => url).join() },
      });
      const counts = Object.fromEntries(graph.nodes.map(({ name, sendTimers }) => [name, sendTimers?.successes.count]));
      expect(counts).toMatchObject({ "orders.new": 2, charge: 3, "jobs.bill": 2, "worker.consumer": 2 });
      expect((await found.describe()).shows.integrationGraph).toEqual(["nats"]);
      expect(found.output().stderr).toBe("");
    });
  }

  const { NatsConnectionImpl, ProtocolHandler } = core as unknown as Parameters<typeof nats.watch>[0] & {
    NatsConnectionImpl: { prototype: object };
    ProtocolHandler: { prototype: object };
  };
  const watched = [{ NatsConnectionImpl }, { ProtocolHandler }, { jetstream: jetstreamLibrary.jetstream }];

  function watchAll(how: "watch" | "meet") {
    const flow = integrationGraph({ app: "shop" });
    const findings = findingsOf(flow);
    const undo = watched.flatMap((exports) => [
      nats.watch(exports, findings, ""),
      ...(how === "meet" ? [nats.meet!(exports, findings, "")] : []),
    ]);
    const end = () => {
      findings.end();
      for (const each of undo.toReversed()) each();
    };
    onTestFinished(end);
    const count = (name: string) =>
      flow.graph.snapshot().nodes.find((node) => node.name === name)?.sendTimers?.successes.count;
    return { flow, count, end };
  }

  test("meets a connection from before with its next message, and leaves it as it was", async () => {
    const connection = await connect({ servers: servers[0]!.url });
    onTestFinished(() => connection.close());
    const heard = Promise.withResolvers<void>();
    connection.subscribe("met", {
      callback: function hear() {
        heard.resolve();
      },
    });
    await connection.flush();
    const prototypes = () =>
      [NatsConnectionImpl, NatsConnectionImpl.prototype, ProtocolHandler.prototype, jetstreamPrototype(connection)].map(
        (each) => Object.getOwnPropertyDescriptors(each),
      );
    const before = [prototypes(), Object.getOwnPropertyNames(connection)];
    const { count, end } = watchAll("meet");
    const other = await connect({ servers: servers[0]!.url });
    other.publish("met", "first");
    await heard.promise;
    expect(count("met")).toBe(1);
    expect(count("hear")).toBe(1);
    await other.close();
    end();
    expect([prototypes(), Object.getOwnPropertyNames(connection)]).toEqual(before);
  });

  test("does not show the connection of the fleet", async () => {
    const { flow } = watchAll("meet");
    const options = { engine: natsFleet(servers[0]!.url), name: "shop", role: "reader" } as const;
    const fleet = new Fleet(options, { startTime: 0, loggers: undefined, ttl: {} });
    const set = () => fleet.setLevel("orders", "DEBUG", { selector: "zone=eu" });
    // With a hint to all instances, this one too.
    await expect.poll(() => set().then(Boolean, () => false)).toBe(true);
    await fleet.close();
    expect(flow.graph.snapshot().nodes).toEqual([]);
  });

  test("holds no connection that was closed", async () => {
    const { count } = watchAll("watch");
    async function publishAndClose() {
      const connection = await connect({ servers: servers[0]!.url });
      connection.publish("short", "x");
      await connection.close();
      return new WeakRef<object>(connection);
    }
    const refs = [await publishAndClose(), await publishAndClose(), await publishAndClose()];
    expect(count("short")).toBe(3);
    await collected(refs);
  });
});

function jetstreamPrototype(connection: Parameters<typeof jetstreamLibrary.jetstream>[0]): object {
  return Object.getPrototypeOf(jetstreamLibrary.jetstream(connection)) as object;
}

async function removeStreams(server: NatsServer): Promise<void> {
  const connection = await connect({ servers: server.url });
  const manager = await jetstreamLibrary.jetstreamManager(connection);
  for await (const { config } of manager.streams.list()) await manager.streams.delete(config.name);
  await connection.close();
}
