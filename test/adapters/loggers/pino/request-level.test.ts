import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import fastify from "fastify";
import { afterEach, describe, expect, test, vi } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import { levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { PINO_VERSIONS } from "../../../support/pino-versions.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const DEBUG = levelVerbosity("DEBUG");

describe.each(PINO_VERSIONS)("a level for one request, with pino %s", (_, pino) => {
  function application(options: Parameters<typeof pino>[0] = {}) {
    const lines: string[] = [];
    const root = pino({ base: null, timestamp: false, ...options }, { write: (line) => void lines.push(line) });
    const loggers = new Loggers();
    cleanups.push(loggers.attach(pinoLoggers(root)));
    const written = () => lines.splice(0).map((line) => (JSON.parse(line) as { msg: string }).msg);
    return { lines, written, root, loggers };
  }

  test("applies only inside, to loggers with a level of their own and to those that follow", () => {
    const { written, root, loggers } = application();
    const orders = root.child({ name: "orders" });
    const own = root.child({ name: "own" }, { level: "silent" });
    const all = [root, orders, orders.child({ reqId: 1 }), own, own.child({ reqId: 2 })];
    const answer = loggers.withLevel("DEBUG", () => {
      for (const [index, logger] of all.entries()) {
        logger.trace(`trace ${index}`);
        logger.debug(`debug ${index}`);
      }
      root.child({ name: "late" }, { level: "error" }).info("late");
      root.info("info");
      return 42;
    });
    expect(answer).toBe(42);
    expect(written()).toEqual(["debug 0", "debug 1", "debug 2", "debug 3", "debug 4", "late", "info"]);
    for (const logger of all) logger.debug("outside");
    expect(written()).toEqual([]);
  });

  test("writes the line that the level itself would write", () => {
    const { lines, root, loggers } = application({
      mixin: (_merged, level) => ({ mixed: level }),
      hooks: {
        logMethod(values, method) {
          method.apply(this, [...values, "hooked"] as never);
        },
      },
    });
    const child = root.child({ name: "child" }, { msgPrefix: "[c] ", serializers: { a: () => "serialized" } });
    const call = () => child.debug({ a: 1 }, "with %s");
    loggers.withLevel("DEBUG", call);
    loggers.setLevel("ROOT", "DEBUG");
    call();
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe(lines[1]);
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 20, a: "serialized", msg: "[c] with hooked" });
  });

  test("keeps two interleaved requests apart", async () => {
    const { written, root, loggers } = application();
    const request = async (name: string) => {
      const log = root.child({ reqId: name });
      for (let step = 1; step <= 3; step++) {
        log.debug(`${name} ${step}`);
        await turn();
      }
      await Promise.all([1, 2].map(async (part) => log.debug(`${name} part ${part}`)));
    };
    await Promise.all([request("quiet"), loggers.withLevel("DEBUG", () => request("verbose")), request("quiet too")]);
    expect(written()).toEqual(["verbose 1", "verbose 2", "verbose 3", "verbose part 1", "verbose part 2"]);
  });

  test("ends when the promise is settled, also for what goes on in its context", async () => {
    const { written, root, loggers } = application();
    const later = Promise.withResolvers<void>();
    let detached: Promise<void> | undefined;
    const done = loggers.withLevel("DEBUG", async () => {
      detached = later.promise.then(() => root.debug("detached"));
      await turn();
      root.debug("inside");
    });
    // A second one keeps the loggers changed.
    const other = Promise.withResolvers<void>();
    const second = loggers.withLevel("DEBUG", () => other.promise);
    await done;
    later.resolve();
    await detached;
    other.resolve();
    await second;
    expect(written()).toEqual(["inside"]);
  });

  test("ends when the function throws or its promise is rejected, and the caller gets the error", async () => {
    const { written, root, loggers } = application();
    const failure = new Error("failed");
    const thrown = () =>
      loggers.withLevel("DEBUG", () => {
        throw failure;
      });
    expect(thrown).toThrow(failure);
    await expect(loggers.withLevel("DEBUG", () => Promise.reject(failure))).rejects.toBe(failure);
    root.debug("outside");
    expect(written()).toEqual([]);
  });

  test("nests: an inner one adds to the outer one and takes nothing away", async () => {
    const { written, root, loggers } = application();
    const [orders, users] = ["orders", "users"].map((name) => root.child({ name }));
    await loggers.withLevel("DEBUG", async () => {
      await loggers.withLevel(
        "TRACE",
        async () => {
          await turn();
          orders!.trace("orders, both");
          users!.trace("no");
          users!.debug("users, both");
        },
        { logger: "orders" },
      );
      orders!.trace("no");
      loggers.withLevel("ERROR", () => orders!.debug("orders, outer"));
    });
    expect(written()).toEqual(["orders, both", "users, both", "orders, outer"]);
  });

  test("may be limited to a logger and those below it", () => {
    const { written, root, loggers } = application();
    const names = ["orders", "orders:payment", "orders2", "orders.payment.card"];
    const children = names.map((name) => root.child({ name }));
    const call = () => {
      for (const [index, child] of children.entries()) child.child({ reqId: 1 }).debug(names[index]!);
      root.debug("ROOT");
    };
    loggers.withLevel("DEBUG", call, { logger: "orders" });
    expect(written()).toEqual(["orders", "orders:payment", "orders.payment.card"]);
    loggers.withLevel("DEBUG", call, { logger: "orders/payment" });
    expect(written()).toEqual(["orders:payment", "orders.payment.card"]);
    loggers.withLevel("DEBUG", call, { logger: "root" });
    expect(written()).toHaveLength(5);
  });

  test("answers code that asks before it makes a record", () => {
    const { root, loggers } = application();
    const child = root.child({ reqId: 1 });
    const asked = () => ["trace", "debug", "info", "unknown"].map((label) => child.isLevelEnabled(label));
    expect(loggers.withLevel("DEBUG", asked)).toEqual([false, true, true, false]);
    expect(asked()).toEqual([false, false, true, false]);
  });

  test("stays right when operators and the application change levels meanwhile", () => {
    const { written, root, loggers } = application();
    const child = root.child({ name: "a" });
    loggers.withLevel("DEBUG", () => {
      loggers.setLevel("a", "ERROR");
      child.debug("1");
      loggers.setLevel("a", "TRACE");
      child.trace("2");
      child.level = "warn";
      child.debug("3");
      child.trace("no");
      loggers.setLevel("ROOT", "OFF");
      root.debug("4");
    });
    expect(written()).toEqual(["1", "2", "3", "4"]);
    child.info("no");
    child.warn("5");
    root.fatal("no");
    expect(written()).toEqual(["5"]);
    expect([child.level, root.level]).toEqual(["warn", "silent"]);
  });

  test("includes the application's own levels, and allows calls without a logger", () => {
    const { written, root, loggers } = application({
      level: "error",
      customLevels: { notice: 35, detail: 15, silly: 5 },
    });
    const custom = root as typeof root & Record<"notice" | "detail" | "silly", (text: string) => void>;
    const child = root.child({ name: "c" }, { customLevels: { step: 25 } });
    const { debug } = root;
    loggers.withLevel("DEBUG", () => {
      custom.notice("notice");
      custom.detail("no");
      custom.silly("no");
      (child as typeof child & { step(text: string): void }).step("step");
      debug("a disabled method needs no logger");
    });
    expect(written()).toEqual(["notice", "step"]);
  });

  test("keeps methods that the application replaced", () => {
    const { written, root, loggers } = application();
    const seen: string[] = [];
    root.debug = ((text: string) => void seen.push(text)) as typeof root.debug;
    loggers.withLevel("DEBUG", () => root.debug("x"));
    const measurement = loggers.measure();
    loggers.withLevel("DEBUG", () => root.debug("y"));
    measurement.end();
    expect(seen).toEqual(["x", "y"]);
    expect(written()).toEqual([]);
  });

  test.each([
    ["inside a measurement", ["measure", "open", "close", "end"]],
    ["around one", ["open", "measure", "end", "close"]],
    ["before its end", ["open", "measure", "close", "end"]],
    ["after its begin", ["measure", "open", "end", "close"]],
  ] as const)("leaves no trace, and counts as let through what it lets through: %s", async (_order, steps) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    cleanups.push(() => vi.useRealTimers());
    const { written, root, loggers } = application();
    const follower = root.child({ name: "follower" });
    const own = root.child({ name: "own" }, { level: "error" });
    const all = [root, follower, own, follower.child({ reqId: 1 })];
    const state = () =>
      all.flatMap((logger) => {
        const found: unknown[] = [Reflect.ownKeys(logger)];
        for (let at = logger as object; at !== null; at = Object.getPrototypeOf(at) as object) {
          found.push(Object.getOwnPropertyDescriptors(at));
        }
        return found;
      });
    const before = state();
    const wait = Promise.withResolvers<void>();
    let measurement: ReturnType<typeof loggers.measure> | undefined;
    let scope: Promise<void> | undefined;
    const actions = {
      measure: () => void (measurement = loggers.measure()),
      end: () => measurement!.end(),
      open: () =>
        void (scope = loggers.withLevel("DEBUG", async () => {
          root.debug("inside");
          await wait.promise;
          own.debug("inside");
        })),
      close: async () => {
        wait.resolve();
        await scope;
        expect(state()).not.toEqual(before);
        vi.advanceTimersByTime(1_000);
      },
    };
    for (const step of steps) {
      await actions[step]();
      for (const logger of all) logger.debug("outside");
    }
    expect(state()).toEqual(before);
    expect(written()).toEqual(["inside", "inside"]);
    const { emitted } = measurement!.report().total;
    const during = steps.slice(steps.indexOf("measure"), steps.indexOf("end"));
    expect(emitted[DEBUG]).toBe(during.filter((step) => step === "open" || step === "close").length);
  });

  test("keeps the loggers changed for a second after the last one, and no longer", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    cleanups.push(() => vi.useRealTimers());
    const { root, loggers } = application();
    const { debug, info, isLevelEnabled } = root;
    loggers.withLevel("DEBUG", () => expect(root.info).toBe(info));
    vi.advanceTimersByTime(900);
    loggers.withLevel("DEBUG", () => undefined);
    vi.advanceTimersByTime(900);
    expect(root.debug).not.toBe(debug);
    vi.advanceTimersByTime(100);
    expect([root.debug, root.isLevelEnabled]).toEqual([debug, isLevelEnabled]);
  });

  test("applies to its actuator: loggers of another one alone stay as they are", () => {
    const { written, root, loggers } = application();
    const lines: string[] = [];
    const foreign = pino({ base: null }, { write: (line) => void lines.push(line) });
    const other = new Loggers();
    cleanups.push(other.attach(pinoLoggers([foreign, root])));
    other.withLevel("DEBUG", () =>
      loggers.withLevel("TRACE", () => {
        root.trace("both");
        foreign.trace("no");
        foreign.debug("foreign");
      }),
    );
    expect(written()).toEqual(["both"]);
    expect(lines).toHaveLength(1);
  });

  test("ends with the adapter, includes a new one, and ends when the loggers are closed", async () => {
    const { written, root, loggers } = application();
    const lines: string[] = [];
    const late = pino({ base: null }, { write: (line) => void lines.push(line) });
    const { debug } = late;
    const wait = Promise.withResolvers<void>();
    const scope = loggers.withLevel("DEBUG", async () => {
      const detach = loggers.attach(pinoLoggers(late));
      late.debug("attached");
      detach();
      late.debug("detached");
      await wait.promise;
      root.debug("closed");
    });
    await loggers.close();
    expect(late.debug).toBe(debug);
    wait.resolve();
    await scope;
    expect(loggers.withLevel("DEBUG", () => root.debug("closed"))).toBeUndefined();
    expect(lines).toHaveLength(1);
    expect(written()).toEqual([]);
  });
});

test("fastify: one request in flight is verbose, on its own logger, and the others are not", async () => {
  const lines: string[] = [];
  const app = fastify({ logger: { level: "warn", stream: { write: (line: string) => void lines.push(line) } } });
  cleanups.push(() => app.close());
  const loggers = new Loggers();
  cleanups.push(loggers.attach(pinoLoggers(app.log)));
  app.addHook("onRequest", (request, reply, next) => {
    if (request.headers["x-verbose"] === undefined) next();
    else
      void loggers.withLevel("DEBUG", async () => {
        next();
        await once(reply.raw, "close");
      });
  });
  app.get("/:id", async (request) => {
    await turn();
    request.log.debug(`handled ${(request.params as { id: string }).id}`);
    return {};
  });
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  const ids = Array.from({ length: 20 }, (_, index) => index);
  await Promise.all(
    ids.map(async (id) => {
      const headers: Record<string, string> = id % 5 === 0 ? { "x-verbose": "1" } : {};
      await (await fetch(`${address}/${id}`, { headers })).text();
    }),
  );
  const handled = lines.map((line) => (JSON.parse(line) as { msg: string }).msg).filter((msg) => /^handled/.test(msg));
  expect(handled.sort()).toEqual(["handled 0", "handled 10", "handled 15", "handled 5"]);
});
