import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  GetLoggerResponseSchema,
  ListLevelChangesResponseSchema,
  ListLoggersResponseSchema,
} from "../../src/gen/actuator/v3/loggers_pb.ts";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import { nativeHandle } from "../support/native-handle.ts";
import { cli } from "./cli-process.ts";
import { openShop } from "./shop.ts";

const lines = (text: string) => text.trimEnd().split("\n");
const CLOCK = /\d\d:\d\d:\d\d \(\d+m( \d+s)? left\)/;

describe("list", () => {
  test("shows a tree with full names, levels, their origin, and groups", async () => {
    const { url, actuator } = await openShop();
    actuator.loggers!.setLevel("orders", "WARN", { reason: "ticket 812", actor: "alice" });
    actuator.loggers!.setLevel("orders.payment.cards", "FATAL", { ttlMs: 600_000 });
    const { code, stdout, stderr } = await cli(["loggers", "list", "--url", url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(lines(stdout.replace(/\d\d:\d\d:\d\d/g, "CLOCK").replace(/\d+m( \d+s)? left/, "10m left"))).toEqual([
      "LOGGER                      LEVEL      ORIGIN",
      "ROOT                        INFO       configured",
      '  orders                    WARN       set CLOCK, by alice, "ticket 812", baseline inherited',
      "    orders.payment          WARN       inherited",
      "      orders.payment.cards  FATAL      until CLOCK (10m left), baseline inherited",
      "  orders-archive            INFO       inherited",
      "  refunds                   INFO       inherited",
      "  stock                     INFO       inherited",
      "    stock.payment           INFO       inherited",
      "",
      "GROUP  LEVEL      MEMBERS",
      "money  none       orders.payment, refunds  (mixed)",
    ]);
  });

  test.each([
    [["orders.*"], ["orders.payment"]],
    [["orders."], ["orders.payment", "orders.payment.cards"]],
    [
      ["**.payment", "ref"],
      ["orders.payment", "refunds", "stock.payment"],
    ],
    [["--configured"], ["ROOT", "refunds"]],
    [["--configured", "r"], ["refunds"]],
    [["mon"], ["money"]],
  ])("of %j shows %j", async (args, names) => {
    const { url, actuator } = await openShop();
    actuator.loggers!.setLevel("refunds", "ERROR");
    const { code, stdout } = await cli(["loggers", "list", "--url", url, ...args]);
    const shown = lines(stdout).map((line) => line.trim().split(" ")[0]!);
    expect({ code, shown: shown.filter((word) => !/^(LOGGER|GROUP|)$/.test(word)) }).toEqual({ code: 0, shown: names });
  });

  test("says on the side that nothing matches", async () => {
    const { url } = await openShop();
    expect(await cli(["loggers", "list", "nope*", "--url", url])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "No logger matches nope*.\n",
    });
  });

  test("says that ROOT is mixed if libraries differ", async () => {
    const { url, actuator } = await openShop();
    const attach = (host: LoggerHost) => {
      host.discovered("ROOT", nativeHandle("ERROR"), "ERROR");
      return () => {};
    };
    for (const kind of ["one", "other"]) actuator.loggers!.attach({ kind, attach });
    actuator.loggers!.attach({
      kind: "third",
      attach: (host) => {
        host.discovered("ROOT", nativeHandle("DEBUG"), "DEBUG");
        return () => {};
      },
    });
    const { stdout } = await cli(["loggers", "list", "ROOT", "--url", url]);
    expect(lines(stdout)[1]).toMatch(/^ROOT +DEBUG +mixed$/);
    expect(lines(stdout)[2]).toMatch(/the loggers of this name differ: .*one ERROR, other ERROR, third DEBUG/);
  });

  test("shows a warning beneath its logger", async () => {
    const { url, actuator } = await openShop();
    actuator.loggers!.attach({
      kind: "test",
      attach: (host) => {
        host.discovered("refunds.bank", nativeHandle());
        host.warn("refunds.bank", "its destination stops at \x1bINFO");
        return () => {};
      },
    });
    const { stdout } = await cli(["loggers", "list", "refunds", "--url", url]);
    expect(lines(stdout).slice(-2)).toEqual([
      "  refunds.bank  INFO       inherited",
      "    ! its destination stops at \\u001bINFO",
    ]);
  });

  test("as JSON is the answer of the server, filtered", async () => {
    const { url } = await openShop();
    const { stdout } = await cli(["loggers", "list", "*.payment", "--json", "--url", url]);
    const { loggers, levels, groups, revision } = fromJson(ListLoggersResponseSchema, JSON.parse(stdout));
    expect(loggers.map(({ name }) => name)).toEqual(["orders.payment", "stock.payment"]);
    expect({ levels: levels.length, groups: groups.length }).toEqual({ levels: 7, groups: 0 });
    expect(revision).toBeGreaterThan(0n);
  });
});

describe("get", () => {
  test("shows all of a logger", async () => {
    const { url, actuator } = await openShop();
    actuator.loggers!.setLevel("orders", "DEBUG", { ttlMs: 600_000, actor: "alice", reason: "two\u2028lines" });
    const { code, stdout } = await cli(["loggers", "get", "orders", "--url", url]);
    expect(code).toBe(0);
    expect(lines(stdout.replace(/\d{4}-.*/, "TIME").replace(CLOCK, "CLOCK"))).toEqual([
      "orders",
      "  level       DEBUG",
      "  configured  DEBUG",
      "  baseline    inherited",
      "  library     pino",
      "  set         TIME",
      "  lasts       until CLOCK",
      "  by          alice",
      "  through     shop-1",
      "  reason      two\\u2028lines",
    ]);
  });

  test("shows all of a group", async () => {
    const { url } = await openShop();
    const { stdout } = await cli(["loggers", "get", "money", "--url", url]);
    expect(lines(stdout)).toEqual([
      "money",
      "  level       none set through the group",
      "  mixed       no",
      "  member      orders.payment",
      "  member      refunds",
    ]);
  });

  test("as JSON is the answer of the server", async () => {
    const { url } = await openShop();
    const { stdout } = await cli(["--json", "loggers", "get", "orders", "--url", url]);
    expect(fromJson(GetLoggerResponseSchema, JSON.parse(stdout)).result.value).toMatchObject({ name: "orders" });
  });

  test.each([
    ["oders", "did you mean orders?"],
    ["orders.paymnt", "did you mean orders.payment?"],
    ["quite.another", "connect-actuator loggers list shows all"],
  ])("of %s, which does not exist, helps on", async (name, hint) => {
    const { url } = await openShop();
    expect(await cli(["loggers", "get", name, "--url", url])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `connect-actuator: no logger and no group is named ${name}: ${hint}\n`,
    });
  });
});

describe("set", () => {
  test("for a time, with a reason, reaches the library and says what was there", async () => {
    const { url, actuator, native } = await openShop();
    const args = ["orders.payment", "debug", "--for", "10m", "--reason", "ticket 812"];
    const { code, stdout, stderr } = await cli(["loggers", "set", ...args, "--url", url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replace(CLOCK, "CLOCK")).toBe(
      'orders.payment: DEBUG, until CLOCK, by 127.0.0.1, "ticket 812", baseline inherited, before inherited\n',
    );
    expect(native["orders.payment"]!.level).toBe("debug");
    const { override } = actuator.loggers!.get("orders.payment")!;
    expect(override).toMatchObject({ reason: "ticket 812" });
    expect(override!.expireTime! - override!.setTime).toBe(600_000);
  });

  test.each([
    ["as long as the server likes", ["DEBUG"], 600_000],
    ["permanently, if the level is not a verbose one", ["Warn"], undefined],
    ["for a sum of times", ["trace", "--for", "1h30m"], 5_400_000],
    ["for ever", ["info", "--forever"], undefined],
  ])("lasts %s", async (_, args, lasting) => {
    const { url, actuator } = await openShop();
    expect(await cli(["loggers", "set", "orders", ...args, "--url", url])).toMatchObject({ code: 0 });
    const { override } = actuator.loggers!.get("orders")!;
    expect(override!.expireTime && override!.expireTime - override!.setTime).toBe(lasting);
  });

  test("a group sets its members", async () => {
    const { url, native } = await openShop();
    const { stdout } = await cli(["loggers", "set", "money", "error", "--url", url]);
    expect(stdout.replace(/\d\d:\d\d:\d\d/, "CLOCK")).toBe(
      "money: ERROR, 2 loggers, set CLOCK, by 127.0.0.1, before none\n",
    );
    expect([native["orders.payment"]!.level, native.refunds!.level]).toEqual(["error", "error"]);
  });

  test("with a revision is refused if a level has changed since", async () => {
    const { url, actuator } = await openShop();
    const { revision } = actuator.loggers!.list();
    const set = () => cli(["loggers", "set", "orders", "warn", "--if-revision", String(revision), "--url", url]);
    expect(await set()).toMatchObject({ code: 0 });
    expect(await set()).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/revision is \d+, not \d+/),
    });
  });

  test("of a name that no library has works, and asks whether it was meant", async () => {
    const { url, actuator } = await openShop();
    expect(await cli(["loggers", "set", "order", "warn", "--url", url])).toMatchObject({
      code: 0,
      stderr: "No logger is named order yet; the level applies as soon as one appears. Did you mean orders?\n",
    });
    expect(actuator.loggers!.get("order")).toMatchObject({ configuredLevel: "WARN" });
  });

  test("of what has loggers beneath it asks nothing", async () => {
    const { url, native } = await openShop();
    expect(await cli(["loggers", "set", "stock", "warn", "--url", url])).toMatchObject({ code: 0, stderr: "" });
    expect(native["stock.payment"]!.level).toBe("warn");
  });

  test("that the server refuses says why", async () => {
    const { url } = await openShop();
    expect(await cli(["loggers", "set", "orders", "debug", "--forever", "--url", url])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^connect-actuator: the server says: DEBUG without an end is not allowed.*\n$/),
    });
  });
});

describe("clear and restore", () => {
  test("take one level back", async () => {
    const { url, actuator, native } = await openShop();
    for (const command of ["clear", "restore"]) {
      actuator.loggers!.setLevel("orders", "TRACE");
      expect(await cli(["loggers", command, "orders", "--reason", "done", "--url", url])).toMatchObject({
        code: 0,
        stdout: "orders: INFO, inherited, before TRACE\n",
      });
      expect(native.orders!.level).toBe("info");
      expect(actuator.loggers!.history({ limit: 1 })).toMatchObject([{ override: { reason: "done" } }]);
    }
  });

  test("--all takes every level back", async () => {
    const { url, actuator } = await openShop();
    actuator.loggers!.setLevel("orders", "TRACE");
    actuator.loggers!.setLevel("refunds", "WARN");
    expect(await cli(["loggers", "restore", "--all", "--url", url])).toMatchObject({
      code: 0,
      stdout: "2 loggers restored\n",
    });
    expect(actuator.loggers!.get("orders")).toMatchObject({ configuredLevel: undefined });
  });

  test("of a name that does not exist: clear has nothing to do, restore fails", async () => {
    const { url } = await openShop();
    expect(await cli(["loggers", "clear", "oders", "--url", url])).toMatchObject({
      code: 0,
      stderr: "No logger is named oders yet. Did you mean orders?\n",
    });
    expect(await cli(["loggers", "restore", "refund", "--url", url])).toMatchObject({
      code: 1,
      stderr: "connect-actuator: no logger and no group is named refund: did you mean refunds?\n",
    });
  });
});

describe("history", () => {
  test("shows the latest changes first", async () => {
    const { url, actuator } = await openShop();
    actuator.loggers!.setLevel("orders", "DEBUG", { actor: "alice", reason: "ticket 812" });
    actuator.loggers!.restoreLevel("orders", { actor: "bob" });
    const { code, stdout } = await cli(["loggers", "history", "--url", url]);
    expect(code).toBe(0);
    expect(lines(stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "2026-01-01 00:00:00"))).toEqual([
      "TIME                 LOGGER  CHANGE    LEVEL              BY     REASON",
      "2026-01-01 00:00:00  orders  restored  DEBUG → inherited  bob",
      "2026-01-01 00:00:00  orders  set       inherited → DEBUG  alice  ticket 812",
    ]);
  });

  test.each([
    [["--limit", "3"], 3],
    [["-n", "1200"], 1200],
    [[], 20],
    [["refunds"], 1],
    [["unknown"], 0],
  ])("with %j shows %i", async (args, count) => {
    const { url, actuator } = await openShop();
    actuator.loggers!.setLevel("refunds", "WARN");
    for (let i = 0; i < 1_300; i++) actuator.loggers!.setLevel("orders", i % 2 ? "INFO" : "WARN");
    const { code, stdout, stderr } = await cli(["loggers", "history", ...args, "--json", "--url", url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(fromJson(ListLevelChangesResponseSchema, JSON.parse(stdout)).changes).toHaveLength(count);
  });
});
