import { createRequire } from "node:module";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { LIBRARIES, type LibraryName } from "../../../src/auto/libraries/index.ts";
import type { Findings } from "../../../src/auto/library.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { collected } from "../../support/collected.ts";
import { messages } from "../../support/pino-versions.ts";

const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const require = createRequire(import.meta.url);

/** Loads a file of a package, from a copy of its own. */
// biome-ignore lint/suspicious/noExplicitAny: what libraries export
function fresh(...files: readonly string[]): any[] {
  for (const path of Object.keys(require.cache)) if (path.startsWith(modules)) delete require.cache[path];
  return files.map((file) => require(join(modules, file)));
}

/** Finds loggers in this process. Roots without a name are second, third … */
function finding() {
  const loggers = new Loggers();
  const undo: (() => void)[] = [];
  let roots = 0;
  const findings = {
    loggers: (adapter) => void undo.push(loggers.attach(adapter)),
    rootName: () => [undefined, "second", "third"][roots++],
    carefully: (see) => see(),
  } as Partial<Findings> as Findings;
  const end = () => {
    for (const each of undo.splice(0).toReversed()) each();
  };
  onTestFinished(end);
  return {
    watch(library: LibraryName, exports: object, file = "", how: "watch" | "meet" = "watch") {
      const stop = LIBRARIES[library as "pino"][how]!(exports, findings, join(modules, file));
      undo.push(stop);
      return stop;
    },
    loggers,
    names: () => loggers.list().loggers.map(({ name }) => name),
    end,
  };
}

/** What an object has by itself, of those that libraries let be patched. */
const shapes = (objects: readonly object[]) => objects.map((each) => Object.getOwnPropertyDescriptors(each));

describe.each(["pino8", "pino9", "pino"])("%s", (copy) => {
  const load = () => {
    const [pino, proto] = fresh(`${copy}/pino.js`, `${copy}/lib/proto.js`);
    return { pino, proto, prototype: Object.getPrototypeOf(proto()) as object };
  };

  test("shows each root and its children at once, and none takes over another", () => {
    const { pino, proto, prototype } = load();
    const before = shapes([prototype]);
    const { watch, names, loggers, end } = finding();
    watch("pino", proto);
    expect(names()).toEqual(["ROOT"]);
    const out = messages();
    const root = pino({}, out);
    const orders = root.child({ module: "orders" });
    const audit = pino({ name: "audit", level: "error" }, out);
    const file = audit.child({ module: "audit.file" });
    const unnamed = pino({ level: "warn" }, out);
    expect(names()).toEqual(["ROOT", "audit", "audit.file", "orders", "second"]);
    loggers.setLevel("audit", "DEBUG");
    const all = [root, orders, audit, file, unnamed];
    expect(all.map(({ level }) => level)).toEqual(["info", "info", "debug", "debug", "warn"]);
    loggers.setLevel("ROOT", "TRACE");
    expect(all.map(({ level }) => level)).toEqual(["trace", "trace", "debug", "debug", "warn"]);
    loggers.restoreAllLevels();
    expect(all.map(({ level }) => level)).toEqual(["info", "info", "error", "error", "warn"]);
    end();
    expect(shapes([prototype])).toEqual(before);
    pino({}, out);
    expect(names()).toEqual(["ROOT"]);
  });

  test("meets roots and children that exist when they write, and leaves them as they were", () => {
    const { pino, proto, prototype } = load();
    const before = shapes([prototype]);
    const out = messages();
    const root = pino({}, out);
    const orders = root.child({ module: "orders" });
    const db = orders.child({ module: "orders.db" });
    const audit = pino({ name: "audit" }, out);
    const own = shapes([root, orders, db, audit]);
    const { watch, names, loggers, end } = finding();
    watch("pino", proto);
    const stop = watch("pino", proto, "", "meet");
    db.info("first");
    expect(names()).toEqual(["ROOT", "orders", "orders.db"]);
    const next = audit.child({ module: "audit.file" });
    expect(names()).toEqual(["ROOT", "audit", "audit.file", "orders", "orders.db"]);
    loggers.setLevel("orders", "DEBUG");
    expect([db.level, next.level]).toEqual(["debug", "info"]);
    stop();
    root.child({ module: "later" });
    expect(names()).toContain("later");
    loggers.restoreAllLevels();
    end();
    expect(shapes([prototype])).toEqual(before);
    expect(shapes([root, orders, db, audit])).toEqual(own);
    expect(out.written).toEqual(["first"]);
  });

  test("forgets roots that the application has forgotten", async () => {
    const { pino, proto } = load();
    const { watch, names } = finding();
    watch("pino", proto);
    const root = pino({}, messages());
    const refs = Array.from({ length: 200 }, (_, index) => {
      const made = pino({ name: `request${index}` }, messages());
      return new WeakRef(made.child({ module: `request${index}.part` }) as object);
    });
    await collected(refs);
    for (let time = 0; time < 210; time++) pino({ name: "next" }, messages());
    expect(names().filter((name) => name.startsWith("request"))).toEqual([]);
    expect(root.level).toBe("info");
  });
});

describe("winston", () => {
  const load = () => {
    const [winston] = fresh("winston/lib/winston.js");
    const { Logger, Container } = winston;
    return { winston, prototypes: [Logger.prototype, Container.prototype] };
  };
  const written: string[] = [];
  const options = (winston: { transports: { Stream: new (of: object) => object } }, more: object = {}) => {
    const stream = new Writable({
      write(line, _, done) {
        written.push(String(line));
        done();
      },
    });
    return { transports: [new winston.transports.Stream({ stream })], ...more };
  };

  test("shows each logger at once, and its default logger once the application uses it", () => {
    const { winston, prototypes } = load();
    const before = shapes(prototypes);
    const { watch, names, loggers, end } = finding();
    watch("winston", winston);
    winston.loggers.get("billing", options(winston, { level: "warn" }));
    const root = winston.createLogger(options(winston));
    const orders = root.child({ module: "orders" });
    const audit = winston.createLogger(options(winston, { defaultMeta: { service: "audit" }, level: "error" }));
    const unnamed = winston.createLogger(options(winston));
    expect(names()).toEqual(["ROOT", "audit", "billing", "orders", "second"]);
    winston.add(options(winston).transports[0]);
    expect(names()).toEqual(["ROOT", "audit", "billing", "orders", "second", "third"]);
    loggers.setLevel("audit", "DEBUG");
    expect([root, orders, audit, unnamed].map((each) => each.isDebugEnabled())).toEqual([false, false, true, false]);
    loggers.restoreAllLevels();
    end();
    expect(shapes(prototypes)).toEqual(before);
  });

  test("meets loggers that exist when they write, and leaves them as they were", () => {
    const { winston, prototypes } = load();
    const before = shapes(prototypes);
    winston.loggers.add("billing", options(winston));
    const root = winston.createLogger(options(winston));
    const own = shapes([root]);
    const { watch, names, loggers, end } = finding();
    watch("winston", winston);
    watch("winston", winston, "", "meet");
    expect(names()).toEqual(["ROOT", "billing"]);
    root.child({ module: "orders" }).info("first");
    expect(names()).toEqual(["ROOT", "billing", "orders"]);
    loggers.setLevel("ROOT", "OFF");
    const lines = written.length;
    root.info("second");
    expect(written).toHaveLength(lines);
    loggers.restoreAllLevels();
    end();
    expect(shapes(prototypes)).toEqual(before);
    expect(shapes([root])).toEqual(own);
  });

  test("forgets loggers that the application has forgotten", async () => {
    const { winston } = load();
    const { watch, names } = finding();
    watch("winston", winston);
    const root = winston.createLogger(options(winston));
    const refs = Array.from({ length: 50 }, (_, index) => {
      const made = winston.createLogger(options(winston, { defaultMeta: { service: `request${index}` } }));
      return new WeakRef(made as object);
    });
    await collected(refs);
    await expect.poll(names).toEqual(["ROOT"]);
    expect(root.level).toBe("info");
  });
});

test("a container of the application's own class makes its first logger once", () => {
  const [winston] = fresh("winston/lib/winston.js");
  const { watch, names, end } = finding();
  watch("winston", winston);
  const made: string[] = [];
  class Loggers extends winston.Container {
    add(id: string, options?: object) {
      made.push(id);
      return super.add(`shop.${id}`, options);
    }
  }
  const loggers = new Loggers();
  loggers.add("orders", { silent: true });
  loggers.add("bills", { silent: true });
  expect(made).toEqual(["orders", "bills"]);
  expect(names()).toContain("shop.orders");
  end();
});

test("log4js is found at its first logger, or at once if it is configured already", () => {
  const file = "log4js/lib/log4js.js";
  const [log4js, categories] = fresh(file, "log4js/lib/categories.js");
  const { watch, names, end } = finding();
  watch("log4js", log4js, file);
  expect(Object.hasOwn(categories, "set")).toBe(true);
  log4js.getLogger("orders");
  expect(names()).toEqual(["ROOT", "orders"]);
  end();
  expect(Object.hasOwn(categories, "set")).toBe(false);
  const again = finding();
  again.watch("log4js", log4js, file);
  expect(again.names()).toEqual(["ROOT", "orders"]);
});

test("LogTape is found when its tree is made, or at once if it is there already, by all its copies once", () => {
  const key = Symbol.for("logtape.rootLogger");
  const [one, two] = ["@logtape/logtape/dist/mod.cjs", "@logtape/logtape/dist/mod.cjs"].map((file) => fresh(file)[0]);
  const globals = globalThis as { [key: symbol]: unknown };
  delete globals[key];
  onTestFinished(() => void delete globals[key]);
  const before = finding();
  before.watch("logtape", one);
  before.end();
  expect(Object.hasOwn(globalThis, key)).toBe(false);
  const { watch, names, end } = finding();
  watch("logtape", one);
  watch("logtape", two);
  const orders = one.getLogger("orders");
  expect(names()).toEqual(["ROOT", "orders"]);
  expect(Object.getOwnPropertyDescriptor(globalThis, key)).toMatchObject({ enumerable: true, writable: true });
  end();
  const again = finding();
  for (const copy of [one, two]) again.watch("logtape", copy);
  expect(again.names()).toEqual(["ROOT", "orders"]);
  expect(orders.isEnabledFor("info")).toBe(false);
});

test("debug is found when the application's own code makes a logger, or calls one that exists", () => {
  const file = "debug/src/index.js";
  const [debug] = fresh(file);
  const old = debug("old");
  const before = shapes([debug]);
  const { watch, names, end } = finding();
  watch("debug", debug, file);
  const stop = watch("debug", debug, file, "meet");
  expect(names()).toEqual(["ROOT"]);
  old("called");
  expect(names()).toEqual(["ROOT", "old"]);
  debug("new");
  expect(names()).toEqual(["ROOT", "new", "old"]);
  stop();
  end();
  expect(shapes([debug])).toEqual(before);
});

test.each(["nest10", "nest11"])("the logger of %s is found at its first record", (copy) => {
  const [nest] = fresh(`${copy}/index.js`);
  const patched = [nest.Logger, nest.Logger.prototype, nest.ConsoleLogger.prototype];
  nest.Logger.overrideLogger(["error"]);
  const before = shapes(patched);
  const { watch, names, end } = finding();
  watch("nestjs", nest);
  new nest.Logger("OrdersService").debug("dropped");
  expect(names()).toEqual(["ROOT", "OrdersService"]);
  end();
  expect(shapes(patched)).toEqual(before);
});
