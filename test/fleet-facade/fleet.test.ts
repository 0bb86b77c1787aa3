import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type FleetOptions, fleetLoggers } from "../../src/fleet-facade/index.ts";
import { Level as LevelProto } from "../../src/gen/actuator/v3/level_pb.ts";
import { LevelChange_Kind, LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { type Actuator, createActuator } from "../../src/index.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { folderWith } from "../configuration/folder.ts";
import { type Application, startApplication } from "./instance.ts";

const soon = { timeout: 30_000, interval: 20 };

async function sidecarOf(
  instances: FleetOptions["instances"],
  loggers: LoggersOptions = {},
  options: Partial<FleetOptions> = {},
): Promise<Actuator> {
  const fleet = fleetLoggers({ instances, maxReconnectMs: 100, ...options });
  const actuator = createActuator({ loggers: { ...loggers, logLevelChanges: false, adapters: [fleet] } });
  fleet.follow(actuator.loggers!);
  onTestFinished(async () => {
    await actuator.close({ deadlineMs: 0 });
    await fleet.close();
  });
  return actuator;
}

function logger(sidecar: Actuator, name: string): Logger {
  return sidecar.loggers!.get(name) as Logger;
}

function warnings(sidecar: Actuator, name: string): readonly string[] {
  return logger(sidecar, name)?.warnings ?? [];
}

async function levelsOf(applications: readonly Application[], name: string): Promise<(string | undefined)[]> {
  return Promise.all(applications.map(async (each) => (await each.levels())[name]));
}

/** Waits until the sidecar knows the loggers of all of these. */
async function known(sidecar: Actuator): Promise<void> {
  await vi.waitFor(() => {
    expect(logger(sidecar, "stock")?.kind).toBe("fleet");
    expect(warnings(sidecar, "ROOT").filter((text) => text.includes("unreachable"))).toEqual([]);
  }, soon);
}

/** An operator who calls one instance itself. */
function there({ url }: Pick<Application, "url">) {
  return createClient(LoggersService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
}

test("a token that is sent unencrypted causes a warning with the name of the instance, without the token", async () => {
  const token = "ca_000000000000_secret";
  const instances = [
    { url: "http://192.0.2.1:9001", name: "far" },
    { url: "https://192.0.2.1:9002", name: "safe" },
    "http://127.0.0.1:1",
  ];
  const sidecar = await sidecarOf(instances, {}, { token });
  const told = warnings(sidecar, "ROOT").filter((text) => text.includes("unencrypted"));
  expect(told).toEqual(["the token for far is sent unencrypted: use https"]);
});

describe("what is shown", () => {
  test("each name once, with the most verbose level in effect, and a warning if instances differ", async () => {
    const [a, b] = await Promise.all([
      startApplication({ levels: { stock: "debug", "orders.audit": "warn", "orders.payment": "error" } }),
      startApplication(),
    ]);
    const sidecar = await sidecarOf([
      { url: a.url, name: "a" },
      { url: b.url, name: "b" },
    ]);
    await known(sidecar);
    await vi.waitFor(() => {
      expect(warnings(sidecar, "stock")).toEqual(["the configured levels differ: DEBUG at a; none at b"]);
    }, soon);
    const { loggers } = sidecar.loggers!.list();
    expect(loggers.map(({ name }) => name)).toEqual(["ROOT", "orders", "orders.audit", "orders.payment", "stock"]);
    expect(logger(sidecar, "stock")).toMatchObject({
      configuredLevel: "DEBUG",
      effectiveLevel: "DEBUG",
      kind: "fleet",
    });
    expect(logger(sidecar, "orders")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "INFO" });
    expect(logger(sidecar, "orders.audit")).toMatchObject({ effectiveLevel: "WARN", warnings: [] });
    // What one has configured is not what is in effect at the other.
    expect(logger(sidecar, "orders.payment")).toMatchObject({ configuredLevel: "ERROR", effectiveLevel: "INFO" });
    // Looking changes nothing there.
    expect(await levelsOf([a, b], "stock")).toEqual(["debug", "info"]);
  });

  test("what an application changes by itself is shown, spreads nowhere, and its warning ends with it", async () => {
    const [a, b] = await Promise.all([startApplication(), startApplication()]);
    const sidecar = await sidecarOf([a.url, b.url]);
    await known(sidecar);
    await a.set("orders", "trace");
    await vi.waitFor(() => {
      expect(logger(sidecar, "orders")).toMatchObject({ configuredLevel: "TRACE", effectiveLevel: "TRACE" });
      expect(warnings(sidecar, "orders")).toHaveLength(1);
    }, soon);
    expect(await levelsOf([a, b], "orders")).toEqual(["trace", "info"]);
    await there(a).clearLoggerLevel({ name: "orders" });
    await vi.waitFor(() => {
      expect(logger(sidecar, "orders")).toMatchObject({
        configuredLevel: undefined,
        effectiveLevel: "INFO",
        warnings: [],
      });
    }, soon);
  });
});

describe("a level that is set", () => {
  test("is set in every instance, with who and why, and cleared in each", async () => {
    const applications = await Promise.all([startApplication(), startApplication({ levels: { orders: "warn" } })]);
    const sidecar = await sidecarOf(
      applications.map(({ url }) => url),
      { instance: "sidecar" },
    );
    await known(sidecar);
    sidecar.loggers!.setLevel("orders", "ERROR", { actor: "alice", reason: "ticket 812" });
    expect(logger(sidecar, "orders")).toMatchObject({ configuredLevel: "ERROR", effectiveLevel: "ERROR" });
    await vi.waitFor(async () => {
      expect(await levelsOf(applications, "orders")).toEqual(["error", "error"]);
      expect(await levelsOf(applications, "orders.payment")).toEqual(["error", "error"]);
    }, soon);
    await vi.waitFor(() => expect(warnings(sidecar, "orders")).toEqual([]), soon);
    const { changes } = await there(applications[0]!).listLevelChanges({ name: "orders" });
    expect(changes[0]!.override!.reason).toBe("ticket 812 (by alice through sidecar)");

    sidecar.loggers!.restoreLevel("orders");
    await vi.waitFor(async () => expect(await levelsOf(applications, "orders")).toEqual(["info", "warn"]), soon);
    sidecar.loggers!.setLevel("orders", undefined);
    await vi.waitFor(async () => expect(await levelsOf(applications, "orders")).toEqual(["info", "info"]), soon);
    await vi.waitFor(() => {
      expect(logger(sidecar, "orders")).toMatchObject({ configuredLevel: undefined, effectiveLevel: "INFO" });
    }, soon);
  });

  test("is the last one if several follow quickly, in every instance", async () => {
    const applications = await Promise.all([startApplication(), startApplication()]);
    const sidecar = await sidecarOf(applications.map(({ url }) => url));
    await known(sidecar);
    const levels = ["DEBUG", "WARN", "TRACE", "ERROR", "INFO"] as const;
    for (let round = 0; round < 40; round++) {
      sidecar.loggers!.setLevel("stock", levels[round % levels.length]!);
      if (round % 7 === 0) await delay(1);
    }
    sidecar.loggers!.setLevel("stock", "FATAL");
    await vi.waitFor(async () => expect(await levelsOf(applications, "stock")).toEqual(["fatal", "fatal"]), soon);
    await vi.waitFor(
      () => expect(logger(sidecar, "stock")).toMatchObject({ effectiveLevel: "FATAL", warnings: [] }),
      soon,
    );
  });

  test("reaches a group's members, and a name that no instance has is made in each", async () => {
    const applications = await Promise.all([startApplication(), startApplication()]);
    const sidecar = await sidecarOf(
      applications.map(({ url }) => url),
      { groups: { money: ["orders.payment", "stock"] } },
    );
    await known(sidecar);
    sidecar.loggers!.setLevel("money", "WARN");
    sidecar.loggers!.setLevel("later", "DEBUG", { ttlMs: 60_000 });
    await vi.waitFor(async () => {
      expect(await levelsOf(applications, "stock")).toEqual(["warn", "warn"]);
      expect(await levelsOf(applications, "orders.payment")).toEqual(["warn", "warn"]);
      const { result } = await there(applications[1]!).getLogger({ name: "later" });
      expect(result.value).toMatchObject({ configuredLevel: LevelProto.DEBUG });
      await expect(there(applications[1]!).getLogger({ name: "money" })).rejects.toThrow();
    }, soon);
  });

  test("on a group below a prefix is set on loggers that appear later, in every instance", async () => {
    const applications = await Promise.all([startApplication(), startApplication()]);
    const sidecar = await sidecarOf(
      applications.map(({ url }) => url),
      { groups: { shop: ["shop.*"] } },
    );
    await known(sidecar);
    sidecar.loggers!.setLevel("shop", "ERROR");
    for (const application of applications) await application.create("shop.late");
    await vi.waitFor(async () => expect(await levelsOf(applications, "shop.late")).toEqual(["error", "error"]), soon);
    sidecar.loggers!.setLevel("shop", undefined);
    await vi.waitFor(async () => expect(await levelsOf(applications, "shop.late")).toEqual(["info", "info"]), soon);
  });

  test("for a time expires there by itself, and is not taken for a change of the instance", async () => {
    const applications = await Promise.all([1, 2, 3].map(() => startApplication({ levels: { stock: "warn" } })));
    const sidecar = await sidecarOf(applications.map(({ url }) => url));
    await known(sidecar);
    const endings = async ({ url }: Application) => {
      const { changes } = await there({ url }).listLevelChanges({ name: "stock" });
      return changes.filter(({ kind }) => kind === LevelChange_Kind.EXPIRED).length;
    };
    for (const round of [1, 2]) {
      sidecar.loggers!.setLevel("stock", "DEBUG", { ttlMs: 2_000 });
      await vi.waitFor(async () => {
        expect(await Promise.all(applications.map(endings))).toEqual([round, round, round]);
        expect(await levelsOf(applications, "stock")).toEqual(["warn", "warn", "warn"]);
        const shown = { configuredLevel: "WARN", effectiveLevel: "WARN", warnings: [] };
        expect(logger(sidecar, "stock")).toMatchObject(shown);
      }, soon);
    }
    const kinds = sidecar.loggers!.history({ name: "stock", limit: 10 }).map(({ kind }) => kind);
    expect(kinds).toEqual(["EXPIRED", "SET", "EXPIRED", "SET"]);
  });

  test("without an end is renewed in an instance that does not allow it, and ends there when it is cleared", async () => {
    const application = await startApplication();
    const sidecar = await sidecarOf([application.url]);
    await known(sidecar);
    sidecar.loggers!.setLevel("stock", "DEBUG");
    await vi.waitFor(async () => {
      const { result } = await there(application).getLogger({ name: "stock" });
      expect(result.value).toMatchObject({ override: { expireTime: expect.anything() } });
    }, soon);
    await vi.waitFor(() => expect(warnings(sidecar, "stock")).toEqual([]), soon);
    sidecar.loggers!.setLevel("stock", undefined);
    await vi.waitFor(async () => expect(await levelsOf([application], "stock")).toEqual(["info"]), soon);
  });

  test("by a hold ends with the hold, and the level beneath comes back", async () => {
    const application = await startApplication({ levels: { stock: "warn" } });
    const sidecar = await sidecarOf([application.url]);
    await known(sidecar);
    const { lease } = sidecar.loggers!.holdLevel("stock", "TRACE");
    await vi.waitFor(async () => expect(await levelsOf([application], "stock")).toEqual(["trace"]), soon);
    lease.release();
    await vi.waitFor(async () => expect(await levelsOf([application], "stock")).toEqual(["warn"]), soon);
    await vi.waitFor(() => expect(logger(sidecar, "stock").effectiveLevel).toBe("WARN"), soon);
  });

  test("that an instance refuses causes a warning", async () => {
    const application = await startApplication({ loggers: { maxCreated: 0 } });
    const sidecar = await sidecarOf([{ url: application.url, name: "full" }]);
    await known(sidecar);
    sidecar.loggers!.setLevel("stock.x", "WARN");
    await vi.waitFor(() => expect(warnings(sidecar, "stock.x")[0]).toMatch(/^not WARN at full, which refused: /), soon);
  });
});

describe("a change there", () => {
  test.each([
    ["by the application", (application: Application) => application.set("stock", "warn")],
    [
      "by another caller",
      (application: Application) => there(application).setLoggerLevel({ name: "stock", level: LevelProto.WARN }),
    ],
  ])("%s is left alone and told, and the others keep what was set here", async (_, change) => {
    const [a, b] = await Promise.all([startApplication(), startApplication()]);
    const sidecar = await sidecarOf([{ url: a.url, name: "a" }, b.url]);
    await known(sidecar);
    sidecar.loggers!.setLevel("stock", "ERROR");
    await vi.waitFor(async () => expect(await levelsOf([a, b], "stock")).toEqual(["error", "error"]), soon);
    await change(a);
    await vi.waitFor(() => {
      expect(warnings(sidecar, "stock")).toContain("not ERROR at a: it was changed to WARN there");
      expect(logger(sidecar, "stock")).toMatchObject({ configuredLevel: "ERROR", effectiveLevel: "WARN" });
    }, soon);
    expect(await levelsOf([a, b], "stock")).toEqual(["warn", "error"]);
    // Setting it anew is an order to all.
    sidecar.loggers!.setLevel("stock", "FATAL");
    await vi.waitFor(async () => {
      expect(await levelsOf([a, b], "stock")).toEqual(["fatal", "fatal"]);
      expect(warnings(sidecar, "stock")).toEqual([]);
    }, soon);
  });
});

describe("an instance that goes and comes", () => {
  test("killed and started again has what was set, and meanwhile a warning says that it is missing", async () => {
    const [a, b] = await Promise.all([startApplication({ levels: { "orders.only": "debug" } }), startApplication()]);
    const sidecar = await sidecarOf([{ url: a.url, name: "a" }, b.url]);
    await known(sidecar);
    sidecar.loggers!.setLevel("stock", "ERROR");
    await vi.waitFor(async () => expect(await levelsOf([a, b], "stock")).toEqual(["error", "error"]), soon);
    await a.kill();
    await vi.waitFor(() => {
      expect(warnings(sidecar, "ROOT").join()).toMatch(/a is unreachable \(.+\): its loggers are not shown/);
      expect(warnings(sidecar, "stock")).toEqual(["ERROR is not confirmed by a, which did not answer; retrying"]);
      expect(logger(sidecar, "orders.only")).toBeUndefined();
    }, soon);
    sidecar.loggers!.setLevel("orders", "WARN");
    await a.restart();
    await vi.waitFor(async () => {
      expect(await levelsOf([a, b], "stock")).toEqual(["error", "error"]);
      expect(await levelsOf([a, b], "orders")).toEqual(["warn", "warn"]);
      expect(warnings(sidecar, "stock")).toEqual([]);
      expect(warnings(sidecar, "orders")).toEqual([]);
      expect(warnings(sidecar, "ROOT")).toEqual([]);
    }, soon);
  });

  test("that was only disconnected keeps what was changed there meanwhile", async () => {
    const a = await startApplication({ heartbeatMs: 200 });
    const sidecar = await sidecarOf([{ url: a.url, name: "a" }], {}, { silenceMs: 2_000 });
    await known(sidecar);
    sidecar.loggers!.setLevel("stock", "ERROR");
    await vi.waitFor(async () => expect(await levelsOf([a], "stock")).toEqual(["error"]), soon);
    a.signal("SIGSTOP");
    await vi.waitFor(() => expect(warnings(sidecar, "ROOT").join()).toContain("unreachable"), soon);
    const changed = a.set("stock", "warn");
    a.signal("SIGCONT");
    await changed;
    await vi.waitFor(() => {
      expect(warnings(sidecar, "stock")).toEqual(["not ERROR at a: it was changed to WARN there"]);
    }, soon);
    expect(await levelsOf([a], "stock")).toEqual(["warn"]);
  });

  test("that was only disconnected is cleared when it is back", async () => {
    const a = await startApplication({ heartbeatMs: 200, levels: { stock: "debug" } });
    const sidecar = await sidecarOf([{ url: a.url, name: "a" }], {}, { silenceMs: 2_000 });
    await known(sidecar);
    a.signal("SIGSTOP");
    await vi.waitFor(() => expect(warnings(sidecar, "ROOT").join()).toContain("unreachable"), soon);
    sidecar.loggers!.setLevel("stock", undefined);
    a.signal("SIGCONT");
    await vi.waitFor(async () => expect(await levelsOf([a], "stock")).toEqual(["info"]), soon);
  });

  test("that was never there does not keep the others from being served", async () => {
    const a = await startApplication();
    const sidecar = await sidecarOf([a.url, { url: "http://127.0.0.1:1", name: "absent" }]);
    await vi.waitFor(() => {
      expect(logger(sidecar, "stock")?.kind).toBe("fleet");
      expect(warnings(sidecar, "ROOT")).toEqual(["absent is unreachable (ECONNREFUSED): its loggers are not shown"]);
    }, soon);
  });
});

test("a sidecar that starts again knows what it had set, and what was changed there meanwhile", async () => {
  const application = await startApplication();
  const state = join(folderWith(), "levels.json");
  const first = await sidecarOf([{ url: application.url, name: "a" }], { state, instance: "sidecar" });
  await known(first);
  first.loggers!.setLevel("stock", "ERROR");
  first.loggers!.setLevel("orders", "WARN");
  await vi.waitFor(async () => {
    expect(await application.levels()).toMatchObject({ stock: "error", orders: "warn" });
  }, soon);
  await first.close({ deadlineMs: 0 });
  await there(application).setLoggerLevel({ name: "orders", level: LevelProto.FATAL });

  const second = await sidecarOf([{ url: application.url, name: "a" }], { state, instance: "sidecar" });
  await known(second);
  await vi.waitFor(() => {
    expect(logger(second, "stock")).toMatchObject({ configuredLevel: "ERROR", warnings: [] });
    expect(warnings(second, "orders")).toEqual(["not WARN at a: FATAL was set there later"]);
  }, soon);
  const { changes } = await there(application).listLevelChanges({});
  expect(changes.map(({ name }) => name).sort()).toEqual(["orders", "orders", "stock"]);
});

test("a wrong token causes a warning without the token", async () => {
  const a = await startApplication();
  const sidecar = await sidecarOf([{ url: `${a.url}/nowhere`, name: "a", token: "s3cret-token" }]);
  await vi.waitFor(() => expect(warnings(sidecar, "ROOT").join()).toMatch(/a is unreachable/), soon);
  expect(JSON.stringify(sidecar.loggers!.list())).not.toContain("s3cret");
});

test.each([
  [{}, "fleetLoggers.instances must be a list of addresses, such as"],
  [{ instances: [] }, "fleetLoggers.instances must be a list of addresses"],
  [{ instances: ["ftp://a"] }, "entry 0 must be an address such as http://10.0.0.7:9001"],
  [{ instances: ["http://a", "http://a/"] }, "has http://a twice"],
  [{ instances: ["http://u:secret@a"] }, "without user and password"],
  [{ instances: [{ url: "http://a", tokn: "x" }] }, 'did you mean "token"?'],
])("%j is refused", (options, message) => {
  expect(() => fleetLoggers(options as FleetOptions)).toThrow(message);
});
