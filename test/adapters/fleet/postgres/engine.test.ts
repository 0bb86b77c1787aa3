// @module-tag slow
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { postgresFleet, prepareFleetTables } from "../../../../src/adapters/fleet/postgres/index.ts";
import type { FleetEngine } from "../../../../src/fleet/engine.ts";
import { FaultProxy } from "../../../support/fault-proxy.ts";
import { type PgBouncer, pgbouncerFound, startPgBouncer } from "../../../support/pgbouncer-server.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { testFleetEngine } from "../engine-contract.ts";

async function prepared(): Promise<PostgresServer> {
  const server = await startPostgres();
  const client = new pg.Client(server.url);
  await client.connect();
  await prepareFleetTables(client);
  await prepareFleetTables(client);
  await client.end();
  return server;
}

describe.runIf(requirement("postgresql", postgresFound))("postgresFleet", () => {
  testFleetEngine("of a URL", async () => {
    const server = await prepared();
    return { source: postgresFleet(server.url), server, stop: () => server.stop() };
  });

  testFleetEngine("of a pool that is not connected", async () => {
    const server = await prepared();
    const pool = new pg.Pool({ connectionString: server.url, query_timeout: 1 });
    return { source: postgresFleet(pool), server, stop: () => server.stop() };
  });

  test("without its tables says how to make them", async () => {
    await using server = await startPostgres();
    const engine = postgresFleet(server.url).open("shop");
    const message = async () =>
      engine.exchange("").then(
        () => "",
        (error: Error) => error.message,
      );
    await expect
      .poll(message, { timeout: 10_000 })
      .toMatch(/has no table ca_fleet: run connect-actuator fleet prepare/);
    await engine.close();
  });

  test("gives up a connection that the server accepts and then is silent on", async () => {
    const server = await prepared();
    onTestFinished(() => server.stop());
    let accepted = 0;
    const relay = createServer((socket) => {
      accepted++;
      const upstream = connect(server.port, server.host);
      upstream.on("error", () => {}).on("close", () => socket.destroy());
      socket.on("error", () => {}).on("close", () => upstream.destroy());
      upstream.pipe(socket);
      // After the first packet, which asks for the session, nothing gets through.
      if (accepted === 1) socket.once("data", (data) => upstream.write(data)).on("data", () => {});
      else socket.pipe(upstream);
    });
    relay.listen(0, "127.0.0.1");
    await once(relay, "listening");
    onTestFinished(() => void relay.close());
    const engine = postgresFleet(
      `postgres://postgres@127.0.0.1:${(relay.address() as AddressInfo).port}/postgres`,
    ).open("shop");
    onTestFinished(() => engine.close());
    const works = () =>
      engine.exchange("").then(
        () => true,
        () => false,
      );
    await expect.poll(works, { timeout: 20_000 }).toBe(true);
    expect(accepted).toBe(2);
  });

  test.each(["redis://localhost", "localhost", null])("%s is refused, without a password", (url) => {
    expect(() => postgresFleet(url as string)).toThrow(/takes an address such as/);
  });
});

describe.runIf(requirement("postgresql", postgresFound) && requirement("pgbouncer", pgbouncerFound))(
  "postgresFleet through PgBouncer",
  () => {
    let server: PostgresServer;
    let bouncer: PgBouncer;
    const engines: FleetEngine[] = [];

    beforeAll(async () => {
      server = await prepared();
      bouncer = await startPgBouncer(server);
    });
    afterAll(async () => {
      await Promise.all(engines.map((engine) => engine.close()));
      bouncer.stop();
      await server.stop();
    });

    testFleetEngine("as an engine without hints", async () => {
      return { source: postgresFleet(bouncer.url), hints: false, stop: async () => undefined };
    });

    async function hintsOf(listenUrl?: string): Promise<{ engine: FleetEngine; hints: unknown[] }> {
      const hints: unknown[] = [];
      const engine = postgresFleet(bouncer.url, { listenUrl }).open("shop");
      engines.push(engine);
      engine.onHint((hint) => hints.push(hint));
      await expect
        .poll(
          () =>
            engine.exchange("").then(
              () => "ok",
              () => "",
            ),
          { timeout: 10_000 },
        )
        .toBe("ok");
      return { engine, hints };
    }

    test("is recognised, and asked more often", async () => {
      const { engine } = await hintsOf();
      expect([engine.beatMs, engine.notice]).toEqual([2_000, expect.stringContaining("pooler")]);
    });

    test("listens past it", async () => {
      const { engine, hints } = await hintsOf(server.url);
      expect([engine.beatMs, engine.notice]).toEqual([undefined, undefined]);
      const { document } = await engine.exchange("?");
      await engine.store({ version: "next", text: "{}" }, document!.version, "changed");
      await expect.poll(() => hints).toContain("changed");
    });

    test("is asked more often for as long as nothing listens past it", async () => {
      const proxy = new FaultProxy(server);
      onTestFinished(() => proxy.close());
      const port = await proxy.listen();
      proxy.fault = "cut";
      const { engine, hints } = await hintsOf(`postgres://postgres@127.0.0.1:${port}/postgres`);
      const says = () => [engine.beatMs, engine.notice];
      const polled = [2_000, expect.stringMatching(/^A pooler is .* There is no connection to listenUrl: /)];
      await expect.poll(says).toEqual(polled);
      proxy.fault = "pass";
      await expect.poll(says).toEqual([undefined, undefined]);
      const { document } = await engine.exchange("?");
      await engine.store({ version: "past", text: "{}" }, document!.version, "changed");
      await expect.poll(() => hints).toContain("changed");
      proxy.fault = "cut";
      await expect.poll(says).toEqual(polled);
      await engine.exchange("?");
    });

    test("is listened past it over another connection if one falls silent", { timeout: 30_000 }, async () => {
      const proxy = new FaultProxy(server);
      onTestFinished(() => proxy.close());
      const { engine, hints } = await hintsOf(`postgres://postgres@127.0.0.1:${await proxy.listen()}/postgres`);
      await expect.poll(() => engine.notice, { timeout: 10_000 }).toBeUndefined();
      const before = hints.length;
      proxy.fault = "half-open";
      // A connection that was made may have missed hints, which one without a text says.
      await expect.poll(() => hints.slice(before), { timeout: 20_000 }).toEqual([undefined]);
    });
  },
);
