import { describe, expect, test } from "vitest";
import { applicationFolder, runApplication } from "../../support/auto-application.ts";

/** An application, and what its code would say to have the same loggers shown. */
interface Row {
  /** What is imported, and from where. */
  readonly imports: Readonly<Record<string, string>>;
  /** The application, with `WIRE;` where an adapter would be attached. */
  readonly code: string;
  readonly adapter: readonly [folder: string, factory: string, given: string];
  /** Packages that stand under another name here. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly names: readonly string[];
  /** The logger that `write` writes a record `second` to, below its level. */
  readonly logger: string;
  readonly write: string;
}

const pino: Row = {
  imports: { "{ pino }": "pino" },
  code: `
    const log = pino({ level: "warn" });
    const audit = pino({ name: "audit", level: "error" });
    WIRE;
    const orders = log.child({ module: "shop.orders" }, { level: "info" });
    const file = audit.child({ module: "audit.file" });`,
  adapter: ["pino", "pinoLoggers", "[log, audit]"],
  names: ["ROOT", "audit", "audit.file", "shop", "shop.orders"],
  logger: "shop.orders",
  write: `orders.debug("second")`,
};

const winston: Row = {
  imports: { winston: "winston" },
  code: `
    const options = () => ({ transports: [new winston.transports.Console({ forceConsole: true })] });
    const log = winston.createLogger(options());
    WIRE;
    const orders = log.child({ module: "shop.orders" });
    const audit = winston.createLogger({ ...options(), level: "error", defaultMeta: { service: "audit" } });
    winston.loggers.add("billing", { ...options(), level: "warn" });
    const pdf = winston.loggers.get("billing").child({ module: "billing.pdf" });`,
  adapter: ["winston", "winstonLoggers", "[log, winston.loggers]"],
  names: ["ROOT", "audit", "billing", "billing.pdf", "shop", "shop.orders"],
  logger: "shop.orders",
  write: `orders.debug("second")`,
};

const nestjs: Row = {
  imports: { "{ Logger, ConsoleLogger }": "@nestjs/common" },
  code: `
    WIRE;
    const orders = new Logger("OrdersService");
    Logger.overrideLogger(["log", "error", "warn"]);
    orders.log("first");
    Logger.log("static", "BillingService");`,
  adapter: ["nestjs", "nestjsLoggers", "{ Logger, ConsoleLogger }"],
  names: ["ROOT", "BillingService", "OrdersService"],
  logger: "OrdersService",
  write: `orders.debug("second")`,
};

const ROWS: Readonly<Record<string, Row>> = {
  "pino 10": pino,
  "pino 9": { ...pino, packages: { pino: "pino9" } },
  "pino 8": { ...pino, packages: { pino: "pino8" } },
  "pino of fastify": {
    imports: { fastify: "fastify" },
    code: `
      const app = fastify({ logger: true });
      const { log } = app;
      WIRE;
      const orders = log.child({ module: "orders" });`,
    adapter: ["pino", "pinoLoggers", "log"],
    names: ["ROOT", "orders"],
    logger: "orders",
    write: `orders.debug("second")`,
  },
  "pino of pino-http": {
    imports: { "{ pinoHttp }": "pino-http" },
    code: `
      const { logger } = pinoHttp({ name: "web" });
      WIRE;
      const orders = logger.child({ module: "orders" });`,
    adapter: ["pino", "pinoLoggers", "logger"],
    names: ["ROOT", "orders"],
    logger: "orders",
    write: `orders.debug("second")`,
  },
  "pino of nestjs-pino": {
    imports: { "{ PinoLogger }": "nestjs-pino" },
    code: `
      const log = new PinoLogger({ pinoHttp: {} });
      WIRE;
      const orders = PinoLogger.root.child({ module: "orders" });`,
    adapter: ["pino", "pinoLoggers", "PinoLogger.root"],
    names: ["ROOT", "orders"],
    logger: "orders",
    write: `orders.debug("second")`,
  },
  "winston of nest-winston": {
    imports: { "{ WinstonModule }": "nest-winston", winston: "winston" },
    code: `
      const service = WinstonModule.createLogger({ transports: [new winston.transports.Console({ forceConsole: true })] });
      WIRE;
      const orders = service.logger.child({ module: "orders" });`,
    adapter: ["winston", "winstonLoggers", "service.logger"],
    names: ["ROOT", "orders"],
    logger: "orders",
    write: `orders.debug("second")`,
  },
  winston,
  "winston's default logger": {
    imports: { winston: "winston" },
    code: `
      winston.configure({ level: "warn", transports: [new winston.transports.Console({ forceConsole: true })] });
      WIRE;
      const orders = winston.child({ module: "orders" });`,
    adapter: ["winston", "winstonLoggers", "winston"],
    names: ["ROOT", "orders"],
    logger: "orders",
    write: `orders.debug("second")`,
  },
  log4js: {
    imports: { log4js: "log4js" },
    code: `
      WIRE;
      log4js.configure({
        appenders: { out: { type: "stdout", layout: { type: "basic" } } },
        categories: { default: { appenders: ["out"], level: "warn" }, shop: { appenders: ["out"], level: "info" } },
      });
      const orders = log4js.getLogger("shop.orders");
      log4js.getLogger("audit").level = "error";`,
    adapter: ["log4js", "log4jsLoggers", "log4js"],
    names: ["ROOT", "audit", "shop", "shop.orders"],
    logger: "shop.orders",
    write: `orders.debug("second")`,
  },
  LogTape: {
    imports: { "{ configureSync, getConsoleSink, getLogger }": "@logtape/logtape" },
    code: `
      const orders = getLogger(["shop", "orders"]);
      WIRE;
      configureSync({
        sinks: { console: getConsoleSink() },
        loggers: [
          { category: ["shop"], sinks: ["console"], lowestLevel: "info" },
          { category: ["logtape", "meta"], sinks: [], lowestLevel: "fatal" },
        ],
      });
      const audit = getLogger("audit");`,
    adapter: ["logtape", "logtapeLoggers", ""],
    names: ["ROOT", "audit", "logtape", "logtape.meta", "shop", "shop.orders"],
    logger: "shop.orders",
    write: `orders.debug("second")`,
  },
  debug: {
    imports: { debug: "debug" },
    code: `
      WIRE;
      debug.enable("shop:*,-shop:db");
      debug.log = console.log;
      const orders = debug("orders");
      const others = [debug("shop:db"), debug("shop:http")];`,
    adapter: ["debug", "debugLoggers", "debug"],
    names: ["ROOT", "orders", "shop", "shop:db", "shop:http"],
    logger: "orders",
    write: `orders("second")`,
  },
  "Nest 12": nestjs,
  "Nest 11": { ...nestjs, packages: { "@nestjs/common": "nest11" } },
  "Nest 10": { ...nestjs, packages: { "@nestjs/common": "nest10" } },
};

const src = (path: string) => new URL(`../../../src/${path}`, import.meta.url).href;

/** The application in a module format, with or without an actuator of its own. */
function script({ imports, code, adapter, write }: Row, format: "mjs" | "cjs" | "mts", isExplicit: boolean): string {
  const [folder, factory, given] = adapter;
  const load = (what: string, from: string) =>
    format === "cjs"
      ? `const ${what} = require(${JSON.stringify(from)});`
      : `import ${what} from ${JSON.stringify(from)};`;
  const own = { "{ createActuator }": src("index.ts"), [`{ ${factory} }`]: src(`adapters/loggers/${folder}/index.ts`) };
  const path = (url: string) => (format === "cjs" && url.startsWith("file:") ? new URL(url).pathname : url);
  return [
    ...Object.entries({ ...imports, ...(isExplicit && own) }).map(([what, from]) => load(what, path(from))),
    format === "mts" ? "const typed: string = 'typed';" : "",
    code.replace("WIRE;", isExplicit ? wiring(factory, given) : ""),
    `process.on("SIGUSR2", () => ${write});`,
    // What is made stays in use.
    `setInterval(() => eval(""), 1000);`,
    `console.log("ready");`,
  ].join("\n");
}

function wiring(factory: string, given: string): string {
  return `createActuator({ name: "shop", loggers: { adapters: [${factory}(${given})] } });`;
}

/** Starts the same application twice: once it is only preloaded, and once it has an actuator of its own. */
async function compare(row: Row, format: "mjs" | "cjs" | "mts"): Promise<void> {
  const lists = await Promise.all(
    [false, true].map(async (isExplicit) => {
      const file = `shop.${format}`;
      const shop = runApplication(applicationFolder({ [file]: script(row, format, isExplicit) }, row.packages), file);
      await shop.said("ready");
      const { loggers } = await shop.get("/loggers");
      expect((await shop.describe()).origin).toBe(isExplicit ? "created by the application" : "preloaded");
      expect(await shop.post(`/loggers/${row.logger}`, { configuredLevel: "DEBUG" })).toBe(204);
      shop.child.kill("SIGUSR2");
      await shop.said("second");
      expect(shop.output().stderr).not.toContain("connect-actuator:");
      return loggers as object;
    }),
  );
  expect(lists[0]).toEqual(lists[1]);
  expect(Object.keys(lists[0]!)).toEqual(row.names);
}

test.each(["pino 10", "winston"])("%s is shown as by explicit wiring", (name) => compare(ROWS[name]!, "mjs"));

describe.each(Object.entries(ROWS))("%s", { tags: ["slow"] }, (name, row) => {
  const isFirstOfLibrary = ["pino 10", "winston", "log4js", "LogTape", "debug", "Nest 12"].includes(name);
  const formats = isFirstOfLibrary ? (["mjs", "cjs", "mts"] as const) : (["mjs"] as const);
  test.each(formats)("is shown in %s as by explicit wiring", (format) => compare(row, format));
});
