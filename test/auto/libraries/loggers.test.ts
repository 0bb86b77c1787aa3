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

test("pino is shown as by explicit wiring", () => compare(pino, "mjs"));

describe.each(Object.entries(ROWS))("%s", { tags: ["slow"] }, (name, row) => {
  const isFirstOfLibrary = ["pino 10", "winston", "log4js", "LogTape", "debug", "Nest 12"].includes(name);
  const formats = isFirstOfLibrary ? (["mjs", "cjs", "mts"] as const) : (["mjs"] as const);
  test.each(formats)("is shown in %s as by explicit wiring", (format) => compare(row, format));
});

test("a version that its adapter refuses is named in a notice, and everything else is shown", async () => {
  const code = `
    const { pino } = require("pino");
    const log = pino();
    const orders = require("debug")("orders");
    orders.enabled = true;
    orders("still written");
    setInterval(() => log, 1000);`;
  const folder = applicationFolder({ "shop.cjs": code }, { debug: "express-session/node_modules/debug" });
  const shop = runApplication(folder, "shop.cjs");
  expect(await shop.describe()).toMatchObject({
    shows: { loggers: ["pino"] },
    notices: [expect.stringMatching(/debug/)],
  });
  expect(shop.output().stderr).toContain("still written");
});

test("an application that makes its actuator late gets its own levels back, and then sets them by it", async () => {
  const src = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);
  const code = `
    import { pino } from "pino";
    import winston from "winston";
    import { createActuator } from ${src("index.ts")};
    import { pinoLoggers } from ${src("adapters/loggers/pino/index.ts")};
    import { winstonLoggers } from ${src("adapters/loggers/winston/index.ts")};
    const one = pino({ level: "warn" });
    const orders = one.child({ module: "orders" });
    const other = winston.createLogger({ level: "warn", transports: [new winston.transports.Console()] });
    const bills = other.child({ module: "bills" });
    const tell = () => console.log([one, orders, other, bills].map((each) => each.isLevelEnabled("debug")).join());
    process.on("SIGUSR2", () => {
      tell();
      createActuator({ name: "late", loggers: { adapters: [pinoLoggers(one), winstonLoggers(other)] } });
      tell();
    });
    process.on("SIGWINCH", tell);
    setInterval(() => {}, 1000);`;
  const shop = runApplication(applicationFolder({ "shop.mjs": code }), "shop.mjs");
  expect(await shop.post("/loggers/ROOT", { configuredLevel: "DEBUG" })).toBe(204);
  shop.child.kill("SIGUSR2");
  await shop.said("true,true,true,true\nfalse,false,false,false\n");
  expect(await shop.post("/loggers/ROOT", { configuredLevel: "DEBUG" })).toBe(204);
  shop.child.kill("SIGWINCH");
  await shop.said("false,false,false,false\ntrue,true,true,true\n");
  expect(await shop.get("/loggers/ROOT")).toMatchObject({ configuredLevel: "DEBUG" });
});

test("further roots without a name are called after the code that makes them", async () => {
  const folder = applicationFolder({
    "shop.cjs": `
      const { pino } = require("pino");
      const all = [pino(), require("./src/payments/log.cjs"), require("pino-http").pinoHttp().logger];
      setInterval(() => all, 1000);`,
    "src/payments/log.cjs": `module.exports = require("pino").pino({ level: "error" });`,
  });
  const { loggers } = await runApplication(folder, "shop.cjs").get("/loggers");
  expect(Object.keys(loggers)).toEqual(["ROOT", "payments", "payments.log", "pino-http"]);
});
