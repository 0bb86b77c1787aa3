// @module-tag slow
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applicationFolder, type RunningApplication, runApplication } from "../support/auto-application.ts";
import { kafkaFound, startKafka } from "../support/kafka-server.ts";
import { mosquittoFound, startMosquitto } from "../support/mosquitto-server.ts";
import { natsFound, startNats } from "../support/nats-server.ts";
import { postgresFound, startPostgres } from "../support/postgres-server.ts";
import { rabbitmqFound, startRabbitmq } from "../support/rabbitmq-server.ts";
import { redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";
import { packedPackage } from "./packed-package.ts";

// test/auto tests what is found of each library, with the sources. In the package the same code is in other files, and a stack shows those.

/** What is found of an application. */
interface Shown {
  /** The kinds of adapters, sorted. */
  readonly shows: readonly string[];
  /** Some of the names of loggers. */
  readonly loggers?: readonly string[];
  /** Some of the names in the graph. */
  readonly nodes?: readonly string[];
}

/** An application of several libraries. */
interface Application extends Shown {
  readonly imports: Readonly<Record<string, string>>;
  /** The body of an async function. */
  readonly code: string;
  readonly server?: Server;
  /** What an attach shows: what is used again and again. */
  readonly attached?: Shown;
}

interface Server {
  readonly tool: string;
  readonly found: boolean;
  start(): Promise<{ readonly url: string; stop(): Promise<void> }>;
}

const EXPRESS_SESSION = { express: "express", session: "express-session" };

const LOGGERS: Application = {
  imports: {
    debug: "debug",
    "{ pino }": "pino",
    winston: "winston",
    log4js: "log4js",
    "{ configureSync, getConsoleSink, getLogger }": "@logtape/logtape",
    "{ Logger }": "@nestjs/common",
  },
  code: `
    keep.push(debug("of:debug"), pino().child({ module: "of.pino" }));
    keep.push(winston.createLogger({ transports: [new winston.transports.Console()] }).child({ module: "of.winston" }));
    log4js.configure({
      appenders: { out: { type: "stdout" } },
      categories: { default: { appenders: ["out"], level: "warn" } },
    });
    keep.push(log4js.getLogger("of.log4js"));
    configureSync({ sinks: { console: getConsoleSink() }, loggers: [{ category: "of", sinks: ["console"] }] });
    keep.push(getLogger(["of", "logtape"]));
    new Logger("of.nestjs").log("written");
  `,
  shows: ["debug", "log4js", "logtape", "nestjs", "pino", "winston"],
  loggers: ["of:debug", "of.log4js", "of.logtape", "of.nestjs", "of.pino", "of.winston"],
};

const DEBUG: Application = {
  imports: { debug: "debug" },
  code: `const log = debug("orders"); keep.push(setInterval(() => log("still here"), 50));`,
  shows: ["debug"],
  loggers: ["orders"],
  attached: { shows: ["debug"], loggers: ["orders"] },
};

const SESSIONS: Application = {
  imports: {
    ...EXPRESS_SESSION,
    fileStore: "session-file-store",
    fastify: "fastify",
    cookie: "@fastify/cookie",
    fastifySession: "@fastify/session",
    Koa: "koa",
    "{ createSession }": "koa-session",
    "{ betterAuth }": "better-auth",
    "{ memoryAdapter }": "better-auth/adapters/memory",
  },
  code: `
    session({ secret: "x", resave: false, saveUninitialized: false });
    const store = new (fileStore(session))({ path: process.cwd() + "/sessions", logFn() {} });
    session({ secret: "x", resave: false, saveUninitialized: false, store });
    const web = fastify();
    web.register(cookie);
    web.register(fastifySession, { secret: "x".repeat(32) });
    await web.ready();
    const app = new Koa();
    app.keys = ["x"];
    app.use(createSession({ store: { async get() {}, async set() {}, async destroy() {} } }, app));
    app.use((ctx) => { ctx.session.views = 1; ctx.body = "ok"; });
    const server = app.listen(0, "127.0.0.1");
    await new Promise((listening) => server.once("listening", listening));
    await (await fetch("http://127.0.0.1:" + server.address().port)).text();
    const auth = betterAuth({
      baseURL: "http://127.0.0.1",
      secret: "Nnvn4IlWcRMVkEXn3sRPDGY4mOEcTDMp",
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      emailAndPassword: { enabled: true },
      telemetry: { enabled: false },
      logger: { disabled: true },
    });
    await auth.api.getSession({ headers: new Headers() });
  `,
  shows: ["better-auth", "express-session", "fastify-session", "koa-session", "session-file-store"],
};

const NEST: Application = {
  imports: { "{ Module }": "@nestjs/common", "{ NestFactory }": "@nestjs/core", "{ CqrsModule }": "@nestjs/cqrs" },
  code: `
    class Shop {}
    Module({ imports: [CqrsModule.forRoot()] })(Shop);
    keep.push(await NestFactory.createApplicationContext(Shop, { logger: false }));
  `,
  shows: ["nestjs", "nestjs-messaging"],
};

const REDIS: Application = {
  imports: {
    ...EXPRESS_SESSION,
    "{ createClient }": "redis",
    "{ Redis }": "ioredis",
    "{ Queue }": "bullmq",
    "{ RedisStore }": "connect-redis",
  },
  code: `
    const url = process.env.SERVER;
    const [client, subscriber] = [createClient({ url }), createClient({ url })];
    await Promise.all([client.connect(), subscriber.connect()]);
    await subscriber.subscribe("node-redis", function heardByNodeRedis() {});
    const [other, listener] = [new Redis(url), new Redis(url)];
    listener.on("message", function heardByIoredis() {});
    await listener.subscribe("ioredis");
    const send = () => Promise.all([client.publish("node-redis", "1"), other.publish("ioredis", "1")]);
    await send();
    keep.push(setInterval(send, 50));
    const queue = new Queue("bullmq", { connection: { url } });
    await queue.add("first", {});
    keep.push(queue, session({ secret: "x", resave: false, saveUninitialized: false, store: new RedisStore({ client }) }));
  `,
  server: { tool: "redis-server", found: redisFound, start: startRedis },
  shows: ["bullmq", "connect-redis", "redis"],
  nodes: ["node-redis", "node-redis.heardByNodeRedis", "ioredis", "ioredis.heardByIoredis", "bullmq"],
  attached: { shows: ["redis"], nodes: ["node-redis", "ioredis", "ioredis.heardByIoredis"] },
};

const POSTGRES: Application = {
  imports: { ...EXPRESS_SESSION, pg: "pg", connectPg: "connect-pg-simple" },
  code: `
    const pool = new pg.Pool({ connectionString: process.env.SERVER, max: 1 });
    const store = new (connectPg(session))({ pool, createTableIfMissing: true, pruneSessionInterval: false });
    keep.push(session({ secret: "x", resave: false, saveUninitialized: false, store }));
  `,
  server: { tool: "postgresql", found: postgresFound, start: startPostgres },
  shows: ["connect-pg-simple"],
};

const RABBITMQ: Application = {
  imports: { amqplib: "amqplib" },
  code: `
    const channel = await (await amqplib.connect(process.env.SERVER)).createChannel();
    await channel.assertQueue("bills");
    channel.sendToQueue("bills", Buffer.from("1"));
    keep.push(channel);
  `,
  server: { tool: "rabbitmq-server", found: rabbitmqFound, start: startRabbitmq },
  shows: ["amqplib"],
  nodes: ["bills"],
};

const NATS: Application = {
  imports: { "{ connect }": "@nats-io/transport-node" },
  code: `
    const connection = await connect({ servers: process.env.SERVER });
    connection.publish("orders", "1");
    await connection.flush();
    keep.push(connection);
  `,
  server: { tool: "nats-server", found: natsFound, start: startNats },
  shows: ["nats"],
  nodes: ["orders"],
};

const MQTT: Application = {
  imports: { mqtt: "mqtt" },
  code: `
    const client = await mqtt.connectAsync(process.env.SERVER);
    await client.publishAsync("orders", "1");
    keep.push(client);
  `,
  server: { tool: "mosquitto", found: mosquittoFound, start: startMosquitto },
  shows: ["mqtt"],
  nodes: ["orders"],
};

const KAFKA: Application = {
  imports: { "{ Kafka }": "kafkajs", "{ Producer }": "@platformatic/kafka" },
  code: `
    const brokers = process.env.SERVER.split(",");
    const producer = new Kafka({ brokers, logLevel: 0, retry: { initialRetryTime: 20 } }).producer();
    await producer.connect();
    await producer.send({ topic: "orders", messages: [{ value: "1" }] });
    const other = new Producer({ clientId: "shop", bootstrapBrokers: brokers });
    await other.metadata({ topics: ["parcels"], autocreateTopics: true });
    await other.send({ messages: [{ topic: "parcels", key: Buffer.from("1"), value: Buffer.from("1") }] });
    keep.push(producer, other);
  `,
  server: {
    tool: "kcat",
    found: kafkaFound,
    start: async () => {
      const { brokers, stop } = await startKafka();
      return { url: brokers.join(), stop };
    },
  },
  shows: ["kafkajs", "platformatic-kafka"],
  nodes: ["orders", "parcels"],
};

const APPLICATIONS: Readonly<Record<string, Application>> = {
  "libraries that log": LOGGERS,
  "debug alone": DEBUG,
  "libraries of sessions": SESSIONS,
  NestJS: NEST,
  "clients of Redis": REDIS,
  "clients of PostgreSQL": POSTGRES,
  amqplib: RABBITMQ,
  NATS,
  MQTT,
  "clients of Kafka": KAFKA,
};

const PACKAGE = "connect-actuator";
let installed: string;

beforeAll(async () => {
  installed = mkdtempSync(join(tmpdir(), "connect-actuator-auto-"));
  execFileSync("tar", ["-xzf", await packedPackage(), "--strip-components=1"], { cwd: installed });
}, 120_000);

afterAll(() => rmSync(installed, { recursive: true, force: true }));

for (const [name, application] of Object.entries(APPLICATIONS)) {
  const { server, attached } = application;
  describe.runIf(server === undefined || requirement(server.tool, server.found))(
    `${name}, with the package as it is published`,
    () => {
      let url = "";
      let stop = async () => {};
      beforeAll(async () => {
        if (server !== undefined) ({ url, stop } = await server.start());
      }, 120_000);
      afterAll(() => stop());

      for (const script of ["shop.mjs", "shop.cjs"]) {
        test(`${script} is shown if it is preloaded`, async () => {
          const { shop } = start(application, script, url, ["--import", `${PACKAGE}/auto`]);
          await isReady(shop);
          await expectShown(shop, application);
        });
      }

      if (attached === undefined) return;
      test("is shown if it is attached to", async () => {
        const { folder, shop } = start(application, "shop.mjs", url, ["--inspect-port=0"]);
        await isReady(shop);
        const command = join(folder.folder, "node_modules", PACKAGE, "bin/connect-actuator.js");
        const words = [command, "attach", `${shop.child.pid}`];
        const { status, stderr } = spawnSync(process.execPath, words, { env: folder.env, encoding: "utf8" });
        expect(status, stderr).toBe(0);
        await expectShown(shop, attached);
      });
    },
  );
}

test("debug is found with a package that npm has linked, which is not below node_modules", async () => {
  const { shop } = start(DEBUG, "shop.cjs", "", ["--import", join(installed, "dist/auto/index.js")]);
  await isReady(shop);
  await expectShown(shop, DEBUG);
});

function start(application: Application, script: string, url: string, nodeArgs: readonly string[]) {
  const folder = applicationFolder({ [script]: textOf(application, script) }, { [PACKAGE]: installed });
  const env = { SERVER: url, KAFKAJS_NO_PARTITIONER_WARNING: "1" };
  return { folder, shop: runApplication(folder, script, { preload: false, nodeArgs, env }) };
}

function textOf({ imports, code }: Application, script: string): string {
  const lines = Object.entries(imports).map(([binding, from]) =>
    script.endsWith(".mjs") ? `import ${binding} from "${from}";` : `const ${binding} = require("${from}");`,
  );
  return `${lines.join("\n")}
    const keep = [];
    (async () => {
      ${code}
      console.log("ready");
      setInterval(() => keep, 1000);
    })();`;
}

async function isReady(shop: RunningApplication): Promise<void> {
  await Promise.race([shop.said("ready"), shop.exit()]);
  expect(shop.output().stdout, shop.output().stderr).toContain("ready");
}

/** Messages may be on their way. */
async function expectShown(shop: RunningApplication, { shows, loggers = [], nodes = [] }: Shown): Promise<void> {
  const kinds = async () =>
    Object.values((await shop.describe()).shows)
      .flat()
      .sort();
  await expect.poll(kinds).toEqual(shows);
  await expect
    .poll(async () => Object.keys((await shop.get("/loggers")).loggers))
    .toEqual(expect.arrayContaining([...loggers]));
  const namesIn = ({ nodes }: { nodes: { name: string }[] }) => nodes.map(({ name }) => name);
  await expect
    .poll(async () => namesIn(await shop.get("/integrationgraph")))
    .toEqual(expect.arrayContaining([...nodes]));
  expect((await shop.describe()).notices).toEqual([]);
  expect(shop.output().stderr).not.toContain("connect-actuator:");
}
