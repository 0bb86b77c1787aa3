import { createServer } from "node:net";
import { join } from "node:path";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import connectPgSimple from "connect-pg-simple";
import { RedisStore } from "connect-redis";
import session from "express-session";
import pg from "pg";
import { pino } from "pino";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { redisFleet } from "../../src/adapters/fleet/redis/index.ts";
import { serveFleet } from "../../src/adapters/fleet/serve/index.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator } from "../../src/index.ts";
import { loadRedis, postgresText, zoe } from "../adapters/sessions/spring/recorded.ts";
import { CliProcess, cli, without } from "../cli/cli-process.ts";
import { folderWith } from "../configuration/folder.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../support/postgres-server.ts";
import { type RedisServer, redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";

const soon = { timeout: 30_000, interval: 20 };

/** A sidecar in a process of its own, and its address. */
async function serve(configuration: object, env: NodeJS.ProcessEnv = {}): Promise<{ url: string; child: CliProcess }> {
  const folder = folderWith({ "actuator.json": { listen: { port: 0 }, ...configuration } });
  const child = new CliProcess(["serve", "--config", join(folder, "actuator.json")], env);
  await child.wrote(/ on http\S+\n/);
  return { url: / on (http\S+)\n/.exec(child.stdout)![1]!, child };
}

async function json(url: string): Promise<never> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return (await response.json()) as never;
}

async function sessionsOf(url: string, username: string): Promise<{ id: string }[]> {
  const { sessions } = await json(`${url}/actuator/sessions?username=${encodeURIComponent(username)}`);
  return sessions;
}

async function setLevel(url: string, name: string, level: string): Promise<void> {
  const body = JSON.stringify({ configuredLevel: level });
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${url}/actuator/loggers/${name}`, { method: "POST", headers, body });
  expect(status).toBe(204);
}

const ID_KEY = "0123456789abcdef0123";
const record = { cookie: { maxAge: 600_000, originalMaxAge: 600_000, expires: null }, user: { username: "alice" } };

function save(store: session.Store, id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    store.set(id, record as never, (error) => (error ? reject(error) : resolve()));
  });
}

describe.runIf(requirement("redis-server", redisFound))("sessions in Redis", () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  let store: RedisStore;

  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url });
    client.on("error", () => {});
    await client.connect();
    store = new RedisStore({ client, prefix: "shop:" });
  });
  afterAll(async () => {
    client?.destroy();
    await server?.stop();
  });

  test("of connect-redis are found and ended, and nothing is written but that", async () => {
    await save(store, "first");
    await save(store, "second");
    const { url, child } = await serve({ sessions: { store: { redis: server.url, prefix: "shop:" }, idKey: ID_KEY } });
    expect(child.stdout).toBe(`connect-actuator serves sessions (connect-redis) on ${url}\n`);
    const sessions = await sessionsOf(url, "alice");
    expect(sessions).toHaveLength(2);
    const { status } = await fetch(`${url}/actuator/sessions/${sessions[0]!.id}`, { method: "DELETE" });
    expect(status).toBe(204);
    expect(await sessionsOf(url, "alice")).toHaveLength(1);
    const keys = (await server.command("KEYS", "*")) as string[];
    // What keeps applications from saving it again.
    const ends = keys.filter((key) => key.startsWith("actuator:sessions:shop:ended:"));
    expect({ ends: ends.length, others: keys.length - ends.length }).toEqual({ ends: 1, others: 1 });
  });

  test("are there again when Redis is, whether it went before the start or later", async () => {
    await save(store, "third");
    await server.kill();
    const { url, child } = await serve({
      sessions: { store: { redis: server.url, prefix: "shop:", timeoutMs: "500ms" }, idKey: ID_KEY },
    });
    await child.wrote(/connect-actuator: the session store: Redis/);
    expect((await fetch(`${url}/actuator/sessions?username=alice`)).status).toBe(503);
    for (let round = 0; round < 2; round++) {
      await server.restart();
      await vi.waitFor(async () => expect((await sessionsOf(url, "alice")).length).toBeGreaterThan(0), soon);
      await server.kill();
      await vi.waitFor(async () => {
        expect((await fetch(`${url}/actuator/sessions?username=alice`)).status).toBe(503);
      }, soon);
    }
    await server.restart();
    // A connection that is open at the end.
    await vi.waitFor(async () => expect((await sessionsOf(url, "alice")).length).toBeGreaterThan(0), soon);
    child.signal("SIGTERM");
    expect(await child.ended()).toMatchObject({ code: 0, signal: null });
  });

  test("of Spring Session are found", async () => {
    await server.command("FLUSHALL");
    await loadRedis(server);
    const { url } = await serve({
      sessions: { store: { layout: "spring", redis: server.url, namespace: "indexed:jdk" }, idKey: ID_KEY },
    });
    expect(await sessionsOf(url, zoe)).toHaveLength(1);
  });
});

describe.runIf(requirement("postgresql", postgresFound))("sessions in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  test("of connect-pg-simple are found and ended, after PostgreSQL was away too", async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on("error", () => {});
    onTestFinished(() => pool.end());
    const store = new (connectPgSimple(session))({ pool, createTableIfMissing: true, pruneSessionInterval: false });
    await save(store, "first");
    const env = { ACTUATOR_SESSIONS_STORE_POSTGRES: server.url, ACTUATOR_SESSIONS_ID_KEY: ID_KEY };
    const { url, child } = await serve({}, env);
    expect(child.stdout).toContain("sessions (connect-pg-simple)");
    const [first] = await sessionsOf(url, "alice");
    await server.restart();
    await vi.waitFor(async () => expect(await sessionsOf(url, "alice")).toEqual([first]), soon);
    expect((await fetch(`${url}/actuator/sessions/${first!.id}`, { method: "DELETE" })).status).toBe(204);
    expect(await server.query("SELECT * FROM session")).toEqual([]);
    child.signal("SIGTERM");
    expect(await child.ended()).toMatchObject({ code: 0, signal: null });
    await vi.waitFor(async () => {
      const connections = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'connect-actuator'";
      expect(await server.query(connections)).toEqual([]);
    }, soon);
  });

  test("of Spring Session are found", async () => {
    await server.query(`DROP SCHEMA public CASCADE; CREATE SCHEMA public; ${postgresText}`);
    const { url } = await serve({ sessions: { store: { layout: "spring", postgres: server.url }, idKey: ID_KEY } });
    expect(await sessionsOf(url, zoe)).toHaveLength(1);
  });
});

test("the graph of services is drawn over OTLP", async () => {
  const { url } = await serve({ name: "landscape", graph: { app: "shops" } });
  const processor = new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` }));
  const resource = resourceFromAttributes({ "service.name": "orders" });
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  const attributes = {
    "messaging.system": "rabbitmq",
    "messaging.operation.type": "send",
    "messaging.destination.name": "invoices",
    "server.address": "10.0.0.1",
  };
  const span = provider.getTracer("test").startSpan("publish invoices", { kind: 3, attributes });
  span.end();
  await provider.shutdown();
  const response = await fetch(`${url}/actuator.v3.IntegrationGraphService/GetIntegrationGraph`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  const graph = await response.json();
  expect(graph).toMatchObject({ contentDescriptor: { name: "shops" } });
  expect(JSON.stringify(graph)).toContain("invoices");
});

describe.runIf(requirement("redis-server", redisFound))("a fleet", () => {
  test("is read and changed, without being one of its instances, over REST as well", async () => {
    await using server = await startRedis();
    const shops = ["a", "b"].map((instance) => {
      const logger = pino({ level: "info" }, { write: () => undefined });
      const loggers = { adapters: [pinoLoggers(logger)], instance };
      const actuator = createActuator({ name: "shop", fleet: redisFleet(server.url), loggers });
      onTestFinished(() => actuator.close());
      return { logger, actuator };
    });
    const { url, child } = await serve({ fleet: { name: "shop" } }, { ACTUATOR_FLEET_REDIS: server.url });
    expect(child.stdout).toContain("serves the fleet shop (redis) on");
    await vi.waitFor(async () => {
      const { stdout } = await cli(["fleet", "list", "--json", "--url", url]);
      expect(JSON.parse(stdout).instances?.map(({ id }: { id: string }) => id)).toEqual(["a", "b"]);
    }, soon);
    await vi.waitFor(() => setLevel(url, "ROOT", "ERROR"), soon);
    await vi.waitFor(() => expect(shops.map(({ logger }) => logger.level)).toEqual(["error", "error"]), soon);
    expect(await json(`${url}/actuator/loggers/ROOT`)).toEqual({ configuredLevel: "ERROR", effectiveLevel: "ERROR" });
    const held = await cli(["loggers", "set", "ROOT", "warn", "--url", url]);
    expect(held.code).toBe(0);
    await vi.waitFor(() => expect(shops.map(({ logger }) => logger.level)).toEqual(["warn", "warn"]), soon);
    child.signal("SIGTERM");
    expect(await child.ended()).toMatchObject({ code: 0, signal: null });
    expect(shops.map(({ logger }) => logger.level)).toEqual(["warn", "warn"]);
  });
});

test("fleets are kept for their instances, and read here as well", async () => {
  const { url, child } = await serve({ fleetEngine: true, fleet: { name: "shop" } });
  expect(child.stdout).toContain("serves fleets, in memory, the fleet shop (memory) on");
  const logger = pino({ level: "info" }, { write: () => undefined });
  const loggers = { adapters: [pinoLoggers(logger)], instance: "a" };
  const actuator = createActuator({ name: "shop", fleet: serveFleet(url), loggers, audit: false });
  onTestFinished(() => actuator.close());
  await vi.waitFor(async () => {
    const { stdout } = await cli(["fleet", "list", "--json", "--url", url]);
    expect(JSON.parse(stdout).instances).toMatchObject([{ id: "a" }]);
  }, soon);
  await setLevel(url, "ROOT", "ERROR");
  await vi.waitFor(() => expect(logger.level).toBe("error"), soon);
});

describe("signals", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("%s lets the process end in good order, with 0", async (signal) => {
    const { url, child } = await serve({ graph: true });
    const watch = await fetch(`${url}/actuator.v3.IntegrationGraphService/WatchIntegrationGraph`, {
      method: "POST",
      headers: { "content-type": "application/connect+json" },
      body: Buffer.from([0, 0, 0, 0, 2, ...Buffer.from("{}")]),
    });
    child.signal(signal);
    expect(await watch.text()).toContain("unavailable");
    expect(await child.ended()).toMatchObject({ code: 0, signal: null });
  });

  test("a second one ends it at once", async () => {
    const { url, child } = await serve({ graph: true });
    // A request whose body never ends keeps the drain waiting.
    const { hostname, port } = new URL(url);
    const { connect } = await import("node:net");
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    const head = [
      "POST /v1/traces HTTP/1.1",
      "Host: 127.0.0.1",
      "Content-Type: application/json",
      "Content-Length: 100",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n{`);
    onTestFinished(() => void socket.destroy());
    await json(`${url}/actuator`);
    child.signal("SIGTERM");
    await child.wrote(/a second signal ends it at once/);
    child.signal("SIGTERM");
    expect(await child.ended()).toMatchObject({ code: null, signal: "SIGTERM" });
  });
});

describe("what cannot be started", () => {
  async function refused(configuration: object | string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const folder = folderWith({ "actuator.json": configuration });
    const { code, stdout, stderr } = await cli(["serve", "--config", join(folder, "actuator.json")], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    return stderr.replaceAll(folder, "");
  }

  test.each([
    [
      {},
      "connect-actuator: cannot start: actuator.json:1:1: there is nothing to serve: set sessions.store, graph, fleet or fleetEngine",
    ],
    [
      { graph: true, listen: { host: "0.0.0.0", port: 0 } },
      'connect-actuator: cannot start: actuator.json:4:13: listen.host: refused to listen on "0.0.0.0"',
    ],
    [
      { grahp: true, listen: { prot: 1 } },
      'connect-actuator: cannot start: actuator.json:2:12: Unknown setting "grahp"; did you mean "graph"?\n' +
        '  actuator.json:4:13: Unknown setting "listen.prot"; did you mean "port"?',
    ],
    [
      { graph: { brokers: { main: "x" } } },
      "connect-actuator: cannot start: graph: a key of brokers must be a system and an address",
    ],
    [
      { fleet: { name: "x" } },
      "connect-actuator: cannot start: actuator.json:2:12: fleet has no engine: set fleet.redis, fleet.postgres, fleet.nats or fleet.serve to its address",
    ],
    [{ fleet: { redis: "redis://a" } }, "connect-actuator: cannot start: Give the fleet a name with `fleet.name`"],
    [
      { sessions: { ids: "raw" } },
      "connect-actuator: cannot start: actuator.json:2:15: sessions needs a store: set sessions.store.redis or sessions.store.postgres",
    ],
    [
      { loggers: { maxTtlMs: "1h" }, graph: true },
      "connect-actuator: cannot start: actuator.json:2:14: loggers belong to a fleet here: set fleet.redis, for example",
    ],
    [
      { sessions: { store: { redis: "redis://a", postgres: "postgres://b" } } },
      "connect-actuator: cannot start: actuator.json:3:14: sessions.store must have either redis or postgres, a URL",
    ],
    [
      { sessions: { store: { redis: "redis://a", layout: "spring", prefix: "x:" } } },
      'connect-actuator: cannot start: actuator.json:6:17: sessions.store has prefix, which redis with the layout "spring" does not take; it takes namespace, indexed',
    ],
    ["{", "connect-actuator: cannot start: actuator.json:1:2: the object must end with a }"],
  ])("%j", async (configuration, message) => expect(await refused(configuration)).toContain(message));

  test("a port that is in use", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await vi.waitFor(() => expect(server.listening).toBe(true), { timeout: 30_000 });
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    expect(await refused({ graph: true, listen: { port } })).toContain(`port ${port} on 127.0.0.1 is already in use`);
  });

  test.each([
    ["redis", "redis://u:s3cret@127.0.0.1:1"],
    ["pg", "postgres://u:s3cret@127.0.0.1:1/x"],
  ])("a store whose package %s is not installed says what to install", async (name, address) => {
    const store = { [name === "pg" ? "postgres" : "redis"]: address };
    const stderr = await refused({ sessions: { store } }, without(name));
    expect(stderr).toContain(
      `needs the package ${name}, which is not installed beside connect-actuator: npm install ${name}`,
    );
    expect(stderr).not.toContain("s3cret");
  });

  test("a file that does not exist is a wrong command line", async () => {
    expect(await cli(["serve", "--config", "/nowhere.json"])).toMatchObject({
      code: 2,
      stderr: "connect-actuator: there is no file /nowhere.json: give another with --config or ACTUATOR_CONFIG\n",
    });
  });
});
