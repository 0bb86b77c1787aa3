import { kafkaFound, startKafka } from "../support/kafka-server.ts";
import { postgresFound, startPostgres } from "../support/postgres-server.ts";
import { rabbitmqFound, startRabbitmq } from "../support/rabbitmq-server.ts";
import { redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";

type Imports = readonly (readonly [binding: string, from: string])[];

/** How an application is written and started. The bundle is made by esbuild and leaves packages outside. */
export type Form = "ESM" | "CommonJS" | "tsx" | "type stripping" | "bundle";

/** What an application talks to. */
export interface Server {
  readonly env: NodeJS.ProcessEnv;
  /** Removes what an application has left there. */
  clean(): Promise<unknown>;
  stop(): Promise<void>;
}

/** An application of several libraries, as its author wrote it. */
export interface WholeApplication {
  readonly name: string;
  readonly forms: readonly [Form, ...Form[]];
  readonly imports: Imports;
  /**
   * The body of an async function that makes a server, with `WIRE;` where an explicit actuator would be made, and ends everything at
   * SIGUSR2. A request for `/` writes records to the logger `orders`, counts the views of a session and sends a message; `/idle` is
   * answered once all messages have been handled.
   */
  readonly code: string;
  readonly wiring: {
    /** From where below `src`. */
    readonly imports: Imports;
    readonly loggers: string;
    readonly sessions: string;
    readonly graph: string;
  };
  /** The logger whose level decides whether `orders` writes. */
  readonly logger: string;
  /** Whether it can run here. */
  readonly canRun: boolean;
  serve(): Promise<Server>;
  /** What an attach cannot show of it, as documented. */
  readonly limits?: {
    readonly reasons: readonly string[];
    /** The nodes that are shown; otherwise all. */
    readonly nodes?: readonly string[];
    readonly hiddenLoggers?: readonly string[];
  };
}

const LISTEN = `
let sent = 0, handled = 0;
const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const idle = async () => { while (handled < sent) await delay(5); };
`;

/** Needs `app`, `orders`, `send()` and `close()`. */
const EXPRESS = `
app.get("/", async (req, res) => {
  req.session.user = { username: "ada" };
  req.session.views = (req.session.views ?? 0) + 1;
  orders.info("served");
  orders.debug("seen");
  sent++;
  await send();
  res.json({ views: req.session.views });
});
app.get("/idle", async (req, res) => {
  await idle();
  res.send("idle");
});
const server = app.listen(0, "127.0.0.1", () => console.log("ready " + server.address().port + ";"));
process.once("SIGUSR2", async () => {
  server.close();
  server.closeAllConnections();
  await idle();
  await close();
});
`;
const SESSIONS = "secret: 'x', resave: false, saveUninitialized: false, cookie: { maxAge: 600_000 }";

const NO_SERVER: Server = { env: {}, clean: async () => {}, stop: async () => {} };

async function redis(): Promise<Server> {
  const server = await startRedis();
  const env = { REDIS_URL: server.url, REDIS_PORT: `${server.port}` };
  return { env, clean: () => server.command("FLUSHALL"), stop: () => server.stop() };
}

/** RabbitMQ and PostgreSQL. */
async function brokerAndDatabase(): Promise<Server> {
  const [rabbitmq, postgres] = await Promise.all([startRabbitmq(), startPostgres()]);
  return {
    env: { AMQP_URL: rabbitmq.url, POSTGRES_URL: postgres.url },
    clean: () => postgres.query("DROP TABLE IF EXISTS session"),
    stop: async () => void (await Promise.all([rabbitmq.stop(), postgres.stop()])),
  };
}

/** A new cluster each time: the test cluster takes no second member into a group. */
async function kafka(): Promise<Server> {
  let server = await startKafka();
  const quiet = { KAFKAJS_NO_PARTITIONER_WARNING: "1", NODE_NO_WARNINGS: "1" };
  return {
    get env() {
      return { BROKERS: server.brokers.join(), ...quiet };
    },
    async clean() {
      await server.stop();
      server = await startKafka();
    },
    stop: () => server.stop(),
  };
}

export const APPLICATIONS: readonly WholeApplication[] = [
  {
    name: "Express, pino, connect-redis, BullMQ",
    forms: ["ESM", "CommonJS", "tsx"],
    imports: [
      ["express", "express"],
      ["session", "express-session"],
      ["{ RedisStore }", "connect-redis"],
      ["{ createClient }", "redis"],
      ["{ Queue, Worker }", "bullmq"],
      ["{ pino }", "pino"],
    ],
    code: `
      const log = pino();
      const client = createClient({ url: process.env.REDIS_URL });
      await client.connect();
      const store = new RedisStore({ client });
      const connection = { host: "127.0.0.1", port: Number(process.env.REDIS_PORT) };
      const jobs = new Queue("bills", { connection });
      const worker = new Worker("bills", async function bill() { handled++; }, { connection });
      await worker.waitUntilReady();
      WIRE;
      const orders = log.child({ module: "shop.orders" });
      const app = express();
      app.use(session({ store, ${SESSIONS} }));
      const send = () => jobs.add("bill", {});
      const close = () => Promise.all([worker.close(), jobs.close(), client.close()]);
      ${EXPRESS}`,
    wiring: {
      imports: [
        ["{ pinoLoggers }", "adapters/loggers/pino/index.ts"],
        ["{ connectRedisSessions }", "adapters/sessions/connect-redis/index.ts"],
        ["{ bullmqSource }", "adapters/graph/bullmq/index.ts"],
      ],
      loggers: "pinoLoggers(log)",
      sessions: "connectRedisSessions(store)",
      graph: "bullmqSource([jobs, worker])",
    },
    logger: "shop.orders",
    canRun: requirement("redis-server", redisFound),
    serve: redis,
  },
  {
    name: "Fastify with its logger, @fastify/session, ioredis",
    forms: ["ESM", "type stripping"],
    imports: [
      ["fastify", "fastify"],
      ["cookie", "@fastify/cookie"],
      ["session", "@fastify/session"],
      ["{ Redis }", "ioredis"],
    ],
    code: `
      const app = fastify({ logger: true });
      const publisher = new Redis(Number(process.env.REDIS_PORT));
      const subscriber = new Redis(Number(process.env.REDIS_PORT));
      const store = new session.MemoryStore();
      WIRE;
      const orders = app.log.child({ module: "shop.orders" });
      subscriber.on("message", function hear() { handled++; });
      await subscriber.subscribe("news");
      app.register(cookie);
      app.register(session, { store, secret: "x".repeat(32), cookie: { secure: false, maxAge: 600_000 } });
      app.get("/", async (request) => {
        request.session.user = { username: "ada" };
        request.session.views = (request.session.views ?? 0) + 1;
        orders.info("served");
        orders.debug("seen");
        sent++;
        await publisher.publish("news", "placed");
        return { views: request.session.views };
      });
      app.get("/idle", async () => {
        await idle();
        return "idle";
      });
      await app.listen({ port: 0, host: "127.0.0.1" });
      console.log("ready " + app.server.address().port + ";");
      process.once("SIGUSR2", async () => {
        app.server.closeAllConnections();
        await app.close();
        await idle();
        publisher.disconnect();
        subscriber.disconnect();
      });`,
    wiring: {
      imports: [
        ["{ pinoLoggers }", "adapters/loggers/pino/index.ts"],
        ["{ fastifySessions }", "adapters/sessions/fastify/index.ts"],
        ["{ redisSource }", "adapters/graph/redis/index.ts"],
      ],
      loggers: "pinoLoggers(app.log)",
      sessions: "fastifySessions(store)",
      graph: "redisSource([publisher, subscriber])",
    },
    logger: "shop.orders",
    canRun: requirement("redis-server", redisFound),
    serve: redis,
  },
  {
    name: "Express, winston, connect-pg-simple, amqplib",
    forms: ["ESM", "CommonJS", "bundle"],
    imports: [
      ["express", "express"],
      ["session", "express-session"],
      ["connectPg", "connect-pg-simple"],
      ["pg", "pg"],
      ["amqp", "amqplib"],
      ["winston", "winston"],
    ],
    code: `
      const log = winston.createLogger({ transports: [new winston.transports.Console()] });
      const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL });
      const store = new (connectPg(session))({ pool, createTableIfMissing: true, pruneSessionInterval: false });
      const connection = await amqp.connect(process.env.AMQP_URL);
      WIRE;
      const orders = log.child({ module: "shop.orders" });
      const channel = await connection.createConfirmChannel();
      await channel.assertExchange("orders", "topic");
      await channel.assertQueue("bills");
      await channel.purgeQueue("bills");
      await channel.bindQueue("bills", "orders", "#");
      await channel.consume("bills", function bill(message) { channel.ack(message); handled++; });
      const app = express();
      app.use(session({ store, ${SESSIONS} }));
      const send = () => {
        channel.publish("orders", "placed", Buffer.from("1"));
        return channel.waitForConfirms();
      };
      const close = () => Promise.all([connection.close(), pool.end()]);
      ${EXPRESS}`,
    wiring: {
      imports: [
        ["{ winstonLoggers }", "adapters/loggers/winston/index.ts"],
        ["{ connectPgSimpleSessions }", "adapters/sessions/connect-pg-simple/index.ts"],
        ["{ amqplibSource }", "adapters/graph/amqplib/index.ts"],
      ],
      loggers: "winstonLoggers(log)",
      sessions: "connectPgSimpleSessions(store)",
      graph: "amqplibSource(connection)",
    },
    logger: "ROOT",
    limits: {
      reasons: [
        "winston keeps the names of children in closures",
        "of what was declared, messages mention their exchange",
      ],
      nodes: ["orders", "orders.bill", "shop.producer"],
      hiddenLoggers: ["shop", "shop.orders"],
    },
    canRun: [requirement("rabbitmq-server", rabbitmqFound), requirement("postgresql", postgresFound)].every(Boolean),
    serve: brokerAndDatabase,
  },
  {
    name: "Express, log4js, MemoryStore, kafkajs",
    forms: ["ESM", "type stripping"],
    imports: [
      ["express", "express"],
      ["session", "express-session"],
      ["kafkajs", "kafkajs"],
      ["log4js", "log4js"],
    ],
    code: `
      log4js.configure({
        appenders: { out: { type: "stdout", layout: { type: "basic" } } },
        categories: { default: { appenders: ["out"], level: "info" } },
      });
      const store = new session.MemoryStore();
      const kafka = new kafkajs.Kafka({ brokers: process.env.BROKERS.split(","), logLevel: 0 });
      WIRE;
      const orders = log4js.getLogger("shop.orders");
      const producer = kafka.producer();
      await producer.connect();
      await producer.send({ topic: "bills", messages: [{ value: "first" }] });
      const consumer = kafka.consumer({ groupId: "shop", heartbeatInterval: 200, maxWaitTimeInMs: 50 });
      await consumer.subscribe({ topic: "bills" });
      const joined = new Promise((resolve) => consumer.on("consumer.group_join", resolve));
      await consumer.run({ eachMessage: async () => { handled++; } });
      await joined;
      const app = express();
      app.use(session({ store, ${SESSIONS} }));
      const send = () => producer.send({ topic: "bills", messages: [{ value: "placed" }] });
      const close = () => Promise.all([producer.disconnect(), consumer.disconnect()]);
      ${EXPRESS}`,
    wiring: {
      imports: [
        ["{ log4jsLoggers }", "adapters/loggers/log4js/index.ts"],
        ["{ expressSessions }", "adapters/sessions/express-session/index.ts"],
        ["{ kafkajsSource }", "adapters/graph/kafka/kafkajs/index.ts"],
      ],
      loggers: "log4jsLoggers(log4js)",
      sessions: "expressSessions(store)",
      graph: "kafkajsSource(kafka)",
    },
    logger: "shop.orders",
    canRun: requirement("kcat", kafkaFound),
    serve: kafka,
    limits: { reasons: ["the methods of kafkajs's clients are their own"], nodes: [] },
  },
  {
    name: "NestJS, nestjs-pino, express-session, CQRS",
    forms: ["bundle", "tsx"],
    imports: [
      ["'reflect-metadata'", ""],
      ["{ Controller, ConsoleLogger, Get, Inject, Logger, Module, Session }", "@nestjs/common"],
      ["{ NestFactory }", "@nestjs/core"],
      ["{ CommandBus, CommandHandler, CqrsModule, EventBus, EventsHandler }", "@nestjs/cqrs"],
      ["* as nestPino", "nestjs-pino"],
      ["session", "express-session"],
    ],
    code: `
      class PlaceOrder {}
      class OrderPlaced {}
      @CommandHandler(PlaceOrder)
      class PlaceOrderHandler {
        constructor(@Inject(EventBus) private readonly events: any) {}
        async execute() { this.events.publish(new OrderPlaced()); }
      }
      @EventsHandler(OrderPlaced)
      class Mailer { handle() { handled++; } }
      @Controller()
      class OrdersController {
        private readonly log = new Logger("Orders");
        constructor(@Inject(CommandBus) private readonly commands: any) {}
        @Get() async visit(@Session() visitor: any) {
          visitor.user = { username: "ada" };
          visitor.views = (visitor.views ?? 0) + 1;
          this.log.log("served");
          this.log.debug("seen");
          sent++;
          await this.commands.execute(new PlaceOrder());
          return { views: visitor.views };
        }
        @Get("idle") async idle() { await idle(); return "idle"; }
      }
      const pinoHttp = { redact: ["req.headers.cookie", 'res.headers["set-cookie"]'] };
      @Module({
        imports: [CqrsModule.forRoot(), nestPino.LoggerModule.forRoot({ pinoHttp })],
        controllers: [OrdersController],
        providers: [PlaceOrderHandler, Mailer],
      })
      class AppModule {}
      const app = await NestFactory.create(AppModule, { bufferLogs: true });
      const store = new session.MemoryStore();
      WIRE;
      app.useLogger(app.get(nestPino.Logger));
      app.use(session({ store, ${SESSIONS} }));
      await app.listen(0, "127.0.0.1");
      console.log("ready " + app.getHttpServer().address().port + ";");
      process.once("SIGUSR2", async () => {
        app.getHttpServer().closeAllConnections();
        await idle();
        await app.close();
      });`,
    wiring: {
      imports: [
        ["{ pinoLoggers }", "adapters/loggers/pino/index.ts"],
        ["{ nestjsLoggers }", "adapters/loggers/nestjs/index.ts"],
        ["{ expressSessions }", "adapters/sessions/express-session/index.ts"],
        ["{ nestjsSource }", "adapters/graph/nestjs/index.ts"],
      ],
      loggers: "pinoLoggers(nestPino.PinoLogger.root), nestjsLoggers({ Logger, ConsoleLogger })",
      sessions: "expressSessions(store)",
      graph: "nestjsSource(app)",
    },
    // The level of "Orders" is open; pino's root drops what is below its own.
    logger: "ROOT",
    canRun: true,
    serve: async () => NO_SERVER,
    limits: {
      reasons: ["what NestJS has made before is found in the heap alone", "some loggers write only while it starts"],
      nodes: [],
      hiddenLoggers: ["InstanceLoader", "NestApplication", "NestFactory", "RouterExplorer", "RoutesResolver"],
    },
  },
];

const EXTENSIONS = { ESM: "mjs", CommonJS: "cjs", tsx: "ts", "type stripping": "mts", bundle: "ts" } as const;

/** The file of an application, and its text; explicit: with an actuator of its own. */
export function written({ imports, code, wiring }: WholeApplication, form: Form, isExplicit: boolean) {
  const src = (path: string) => new URL(`../../src/${path}`, import.meta.url).href;
  const load = ([binding, from]: Imports[number]) => {
    if (from === "") return `import ${binding};`;
    return form === "CommonJS" ? `const ${binding} = require("${from}");` : `import ${binding} from "${from}";`;
  };
  const own: Imports = [["{ createActuator, integrationGraph }", "index.ts"], ...wiring.imports];
  const create = `
    const flow = integrationGraph({ app: "shop" });
    flow.attach(${wiring.graph});
    createActuator({
      name: "shop",
      loggers: { adapters: [${wiring.loggers}] },
      sessions: { store: ${wiring.sessions}, idKey: "of a test, and long enough" },
      integrationGraph: flow,
    });`;
  const types = { tsx: "enum Kind { Shop }", "type stripping": 'const kind: string = "shop";' };
  const text = [
    ...imports.map(load),
    ...(isExplicit ? own.map(([binding, from]) => load([binding, src(from)])) : []),
    form in types ? types[form as keyof typeof types] : "",
    `async function main() {${LISTEN}${code.replace("WIRE;", isExplicit ? create : "")}}`,
    "main();",
  ].join("\n");
  return { script: `shop.${EXTENSIONS[form]}`, text };
}
