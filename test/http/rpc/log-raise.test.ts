import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import type { Level as LevelName } from "../../../src/loggers/level.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Logs, type VolumeEvent } from "../../../src/logs/logs.ts";
import type { LogsOptions } from "../../../src/logs/options.ts";
import { WrittenLibrary } from "../../logs/written-library.ts";
import { type LogRequest, LogWatch, watchLogs } from "../../support/log-watch.ts";
import { LOGS_GATE } from "../../support/open-gate.ts";
import { errorInfo, serveRpc, WIRES, type Wire } from "../../support/rpc-harness.ts";

const NAMES = ["orders", "orders.payment", "mail"];
const DEEP = "orders.payment.card";
const DEBUG = { names: ["orders"], raise: { level: Level.DEBUG } } satisfies LogRequest;

async function serve(options?: LogsOptions, library = new WrittenLibrary([...NAMES, DEEP])) {
  const loggers = new Loggers({ groups: { shop: ["orders", "mail"], all: ["orders.*"] }, instance: "i" });
  loggers.attach(library);
  const logs = new Logs(loggers, options);
  onTestFinished(() => logs.close());
  const volume: VolumeEvent[] = [];
  logs.onVolume((event) => volume.push(event));
  const server = await serveRpc({ loggers, logs }, { gate: LOGS_GATE });
  const levels = () => NAMES.map((name) => library.levelOf(name));
  return { ...server, loggers, logs, library, volume, levels };
}
type Served = Awaited<ReturnType<typeof serve>>;

const BEFORE: readonly LevelName[] = ["WARN", "WARN", "INFO"];

/** Each way in which a watch ends; `end` returns when its client knows. */
const ends: Readonly<Record<string, (server: Served, wire: Wire, request: LogRequest) => Promise<void>>> = {
  async "that is cancelled"({ url }, wire, request) {
    const watch = await watchLogs(url, request, { wire });
    watch.abort();
    expect((await watch.end()).code).toBe(Code.Canceled);
  },
  async "whose client is killed"({ url }, wire) {
    const module = join(import.meta.dirname, "..", "..", "support", "log-client.ts");
    const client = fork(module, [wire.protocol, wire.httpVersion, url]);
    onTestFinished(() => void client.kill("SIGKILL"));
    expect((await once(client, "message"))[0]).toBe("started");
    client.kill("SIGKILL");
    await once(client, "exit");
  },
  async "over its deadline"({ url }, wire, request) {
    // By hand, so that it is the server and not the client that keeps it.
    const headers: Record<string, string> = wire.protocol.startsWith("Connect")
      ? { "connect-timeout-ms": "300" }
      : { "grpc-timeout": "300m" };
    expect((await new LogWatch(url, request, { wire, headers }).end()).code).toBe(Code.DeadlineExceeded);
  },
  async "of a server that drains"({ url, rpc }, wire, request) {
    const watch = await watchLogs(url, request, { wire });
    rpc.endStreams();
    expect((await watch.end()).code).toBe(Code.Unavailable);
  },
  async "of an actuator that closes"({ url, logs }, wire, request) {
    const watch = await watchLogs(url, request, { wire });
    logs.close();
    expect((await watch.end()).code).toBe(Code.Unavailable);
  },
};

describe.each(Object.entries(ends))("a watch %s gives the level back", (_, end) => {
  test.each(WIRES)("over $protocol, HTTP/$httpVersion", async (wire) => {
    const server = await serve();
    const { loggers, levels, logs, errors, listener } = server;
    loggers.setLevel("orders", "WARN");
    await end(server, wire, DEBUG);
    await expect.poll(levels).toEqual(BEFORE);
    expect(loggers.history({ limit: 2 })).toMatchObject([
      { kind: "EXPIRED" },
      { kind: "SET", override: { held: true, instance: "i" } },
    ]);
    await expect.poll(() => [logs.size, listener.counts.streams]).toEqual([0, 0]);
    expect(errors).toEqual([]);
  });
});

describe("a raise", () => {
  test("sets the level on each name, and says what it did and for how long", async () => {
    const { url, levels, loggers } = await serve();
    loggers.setLevel("orders", "WARN");
    const raise = { level: Level.TRACE, reason: "ticket 812", ttl: { seconds: 60n } };
    const watch = await watchLogs(url, { names: ["shop", "later"], raise });
    expect(levels()).toEqual(["TRACE", "TRACE", "TRACE"]);
    const { raised, notices, timeLeft } = watch.started!;
    expect(raised).toMatchObject([
      { name: "orders", previousLevel: Level.WARN },
      { name: "mail", previousLevel: Level.UNSPECIFIED },
      { name: "later", previousLevel: Level.UNSPECIFIED },
    ]);
    expect(notices).toMatchObject([{ code: "LOGGER_UNKNOWN" }]);
    expect(Number(timeLeft!.seconds)).toBeGreaterThan(50);
    expect(loggers.get("orders")?.override).toMatchObject({ reason: "ticket 812", held: true });
    watch.abort();
    await expect.poll(levels).toEqual(["WARN", "WARN", "INFO"]);
  });

  test.each<[names: readonly string[], raised: readonly LevelName[]]>([
    [["orders.*"], ["DEBUG", "DEBUG", "INFO"]],
    [["all"], ["DEBUG", "DEBUG", "INFO"]],
    [["orders.payment"], ["INFO", "DEBUG", "INFO"]],
    [
      ["orders", "orders", "orders.payment"],
      ["DEBUG", "DEBUG", "INFO"],
    ],
    [[], ["DEBUG", "DEBUG", "DEBUG"]],
  ])("on %j raises %j", async (names, raised) => {
    const { url, levels } = await serve();
    const watch = await watchLogs(url, { names: [...names], raise: { level: Level.DEBUG } });
    expect(levels()).toEqual(raised);
    watch.abort();
    await expect.poll(levels).toEqual(["INFO", "INFO", "INFO"]);
  });

  test("that is refused for one name has changed none", async () => {
    const { url, levels, loggers } = await serve();
    const error = await new LogWatch(url, { ...DEBUG, names: ["orders", "a\nb"] }).end();
    expect(error.code).toBe(Code.InvalidArgument);
    expect(levels()).toEqual(["INFO", "INFO", "INFO"]);
    expect(loggers.history({ limit: 9 })).toEqual([]);
  });

  test("ends with its time, and the watch goes on", async () => {
    const { url, library, levels } = await serve();
    const watch = await watchLogs(url, { ...DEBUG, raise: { level: Level.DEBUG, ttl: { nanos: 20_000_000 } } });
    await expect.poll(() => watch.raiseEnds).toEqual(["EXPIRED"]);
    expect(levels()).toEqual(["INFO", "INFO", "INFO"]);
    library.write("orders", "INFO", "goes on");
    await expect.poll(() => watch.messages).toEqual(["goes on"]);
  });

  test.each<[what: string, overrule: (server: Served) => unknown, level: LevelName]>([
    ["an operator sets", ({ loggers }) => loggers.setLevel("orders", "ERROR"), "ERROR"],
    ["an operator restores", ({ loggers }) => loggers.restoreAllLevels(), "INFO"],
    ["the application sets", ({ library }) => library.setLevel("orders", "ERROR"), "ERROR"],
  ])("ends if %s another level, which stays, and the watch goes on", async (_, overrule, level) => {
    const server = await serve();
    const { url, library } = server;
    const watch = await watchLogs(url, DEBUG);
    overrule(server);
    await expect.poll(() => watch.raiseEnds).toEqual(["OVERRULED"]);
    library.write("orders", "ERROR", "goes on");
    await expect.poll(() => watch.messages).toEqual(["goes on"]);
    watch.abort();
    await watch.end();
    expect(library.levelOf("orders")).toBe(level);
  });

  test("does not end another one on the same logger", async () => {
    const { url, levels } = await serve();
    const debug = await watchLogs(url, DEBUG);
    const trace = await watchLogs(url, { names: ["orders.*"], raise: { level: Level.TRACE } });
    expect(levels().slice(0, 2)).toEqual(["TRACE", "TRACE"]);
    trace.abort();
    await expect.poll(() => levels().slice(0, 2)).toEqual(["DEBUG", "DEBUG"]);
    debug.abort();
    await expect.poll(levels).toEqual(["INFO", "INFO", "INFO"]);
    expect([...debug.raiseEnds, ...trace.raiseEnds]).toEqual([]);
  });
});

describe("a raise that makes too many records", () => {
  function flood({ library }: Served, count: number, name = "orders", level: LevelName = "DEBUG") {
    for (let at = 0; at < count; at++) library.write(name, level, `${at}`);
  }

  test("is taken back at once, which the stream, the history and listeners are told", async () => {
    const server = await serve({ maxRaisedPerSecond: 50 });
    const { url, library, levels, loggers, volume } = server;
    const watch = await watchLogs(url, DEBUG);
    flood(server, 51);
    await expect.poll(() => watch.raiseEnds).toEqual(["VOLUME"]);
    const { event } = watch.events.find(({ event }) => event.case === "raiseEnded")!;
    expect(event.value).toMatchObject({ maxPerSecond: 50 });
    expect(levels()).toEqual(["INFO", "INFO", "INFO"]);
    expect(loggers.history({ limit: 1 })).toMatchObject([{ name: "orders", kind: "VOLUME" }]);
    expect(volume).toMatchObject([{ name: "orders", level: "DEBUG", maxPerSecond: 50 }]);
    library.write("orders", "INFO", "goes on");
    await expect.poll(() => watch.messages.at(-1)).toBe("goes on");
    expect(watch.messages.length).toBe(52);
  });

  test("may ask for less than the server's limit", async () => {
    const server = await serve();
    const watch = await watchLogs(server.url, { ...DEBUG, raise: { level: Level.DEBUG, maxPerSecond: 5 } });
    flood(server, 6);
    await expect.poll(() => watch.raiseEnds).toEqual(["VOLUME"]);
  });

  test("is not taken back for what is written anyway", async () => {
    const server = await serve({ maxRaisedPerSecond: 50 });
    const watch = await watchLogs(server.url, DEBUG);
    flood(server, 500, "orders", "INFO");
    flood(server, 500, "mail", "INFO");
    flood(server, 50);
    await expect.poll(() => watch.messages.length).toBe(550);
    expect(watch.raiseEnds).toEqual([]);
  });

  test.each<[what: string, names: readonly string[], flooded: string]>([
    ["through a name above", ["orders"], "orders.payment"],
    ["through ROOT", [], "orders.payment"],
    ["through a wildcard", ["orders.*"], "orders.payment"],
    ["through a group with a wildcard", ["all"], "orders.payment"],
    ["through a group with a wildcard, far below", ["all"], DEEP],
    ["through one of two names", ["orders", "orders.payment"], "orders.payment"],
    ["through a group and one of its members", ["orders", "shop"], "orders"],
  ])("is taken back: %s", async (_, names, flooded) => {
    const server = await serve({ maxRaisedPerSecond: 50 });
    const watch = await watchLogs(server.url, { names: [...names], raise: { level: Level.DEBUG } });
    flood(server, 51, flooded);
    await expect.poll(() => watch.raiseEnds).toEqual(["VOLUME"]);
    expect(server.levels()).toEqual(["INFO", "INFO", "INFO"]);
  });

  test.each<[what: string, names: readonly string[]]>([
    ["the same name", ["orders"]],
    ["a name below", ["orders.payment"]],
    ["everything", []],
  ])("is taken back with another one on %s", async (_, names) => {
    const server = await serve({ maxRaisedPerSecond: 50 });
    const first = await watchLogs(server.url, DEBUG);
    const second = await watchLogs(server.url, { names: [...names], raise: { level: Level.TRACE } });
    // The nearer one decides, and when it has ended, the other one.
    await expect
      .poll(() => {
        flood(server, 51, "orders.payment");
        return [...first.raiseEnds, ...second.raiseEnds];
      })
      .toEqual(["VOLUME", "VOLUME"]);
    expect(server.levels()).toEqual(["INFO", "INFO", "INFO"]);
  });

  test("for one stream alone is taken back as well", async () => {
    const server = await serve({ maxRaisedPerSecond: 50 });
    const watch = await watchLogs(server.url, { ...DEBUG, raise: { level: Level.DEBUG, onlyHere: true } });
    flood(server, 60);
    await expect.poll(() => watch.raiseEnds).toEqual(["VOLUME"]);
    flood(server, 10);
    server.library.write("orders", "INFO", "goes on");
    await expect.poll(() => watch.messages.at(-1)).toBe("goes on");
    expect(server.library.written).toEqual(["goes on"]);
    expect(server.volume).toMatchObject([{ name: "orders", level: "DEBUG", maxPerSecond: 50 }]);
  });
});

describe("only_here", () => {
  test("shows additional records to one stream, while no level changes", async () => {
    const { url, library, levels, loggers } = await serve();
    const here = await watchLogs(url, { names: ["orders"], raise: { level: Level.DEBUG, onlyHere: true } });
    const other = await watchLogs(url, { names: ["orders"] });
    expect(here.started!.raised).toEqual([]);
    library.write("orders", "DEBUG", "hidden");
    library.write("orders", "TRACE", "too much");
    library.write("mail", "DEBUG", "not selected");
    library.write("orders", "INFO", "written");
    await expect.poll(() => here.messages).toEqual(["hidden", "written"]);
    expect(here.records.map(({ onlyHere }) => onlyHere)).toEqual([true, false]);
    await expect.poll(() => other.messages).toEqual(["written"]);
    expect(library.written).toEqual(["written"]);
    expect([levels(), loggers.history({ limit: 1 })]).toEqual([["INFO", "INFO", "INFO"], []]);
    here.abort();
    await here.end();
    await expect.poll(() => library.isHeard).toBe(true);
    library.write("orders", "DEBUG", "over");
    library.write("orders", "INFO", "end");
    await expect.poll(() => other.messages).toEqual(["written", "end"]);
  });

  test("follows the border that the application moves, and goes on", async () => {
    const { url, library } = await serve();
    const watch = await watchLogs(url, { names: ["orders"], raise: { level: Level.DEBUG, onlyHere: true } });
    library.setLevel("orders", "ERROR");
    library.write("orders", "WARN", "hidden now");
    library.setLevel("orders", "DEBUG");
    library.write("orders", "DEBUG", "written now");
    await expect.poll(() => watch.messages).toEqual(["hidden now", "written now"]);
    expect(watch.records.map(({ onlyHere }) => onlyHere)).toEqual([true, false]);
    expect(library.written).toEqual(["written now"]);
    expect(watch.raiseEnds).toEqual([]);
  });

  test("ends with its time", async () => {
    const { url, library } = await serve();
    const raise = { level: Level.DEBUG, onlyHere: true, ttl: { nanos: 20_000_000 } };
    const watch = await watchLogs(url, { names: ["orders"], raise });
    expect(watch.started!.timeLeft).toBeDefined();
    await expect.poll(() => watch.raiseEnds).toEqual(["EXPIRED"]);
    library.write("orders", "DEBUG", "over");
    library.write("orders", "INFO", "goes on");
    await expect.poll(() => watch.messages).toEqual(["goes on"]);
  });

  test("is refused with the reason, and nothing changes, if a library cannot do it", async () => {
    const library = new WrittenLibrary(NAMES, "debug writes through the log function of an instance");
    const { url, logs, levels } = await serve({}, library);
    const error = await new LogWatch(url, { ...DEBUG, raise: { level: Level.DEBUG, onlyHere: true } }).end();
    expect([error.code, errorInfo(error)?.reason]).toEqual([Code.Unimplemented, "ONLY_HERE_UNSUPPORTED"]);
    expect(error.rawMessage).toContain("debug writes through");
    expect([logs.size, library.isHeard, levels()]).toEqual([0, false, ["INFO", "INFO", "INFO"]]);
  });
});
