import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import fc from "fast-check";
import pino from "pino";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import { WatchedLoggers } from "../../../src/client/watched-loggers.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import {
  type Change,
  type InheritedLevel,
  type Logger,
  type LoggerGroup,
  LoggersService,
  WatchLoggersRequestSchema,
  type WatchLoggersResponse,
  WatchLoggersResponseSchema,
} from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { groupToProto, levelFromProto, loggerToProto } from "../../../src/http/rpc/logger-proto.ts";
import { watchLoggers } from "../../../src/http/rpc/watch-loggers.ts";
import { isVisible, type Reach } from "../../../src/http/visible-loggers.ts";
import type { LoggerHost } from "../../../src/loggers/adapter.ts";
import { LEVELS, type Level as LevelName } from "../../../src/loggers/level.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { hasPrefix } from "../../../src/loggers/name.ts";
import type { LoggersOverview } from "../../../src/loggers/view.ts";
import { nativeHandle } from "../../support/native-handle.ts";
import { libraryOf, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";

/** A client as the comments of the schema describe it, in the most naive way. */
class NaiveClient {
  readonly loggers = new Map<string, Logger>();
  readonly groups = new Map<string, LoggerGroup>();
  revision = 0n;

  take({ event, revision, more }: WatchLoggersResponse): void {
    if (event.case === "snapshot") {
      this.loggers.clear();
      this.groups.clear();
    }
    if (event.case === "change") this.#inherit(event.value);
    if (event.case === "snapshot" || event.case === "change") {
      for (const logger of event.value.loggers) this.loggers.set(logger.name, logger);
      for (const group of event.value.groups) this.groups.set(group.name, group);
    }
    if (event.case === "change") for (const name of event.value.removed) this.loggers.delete(name);
    if (!more) this.revision = revision;
  }

  #inherit({ inherited }: Change): void {
    const before = [...this.loggers.values()];
    for (const { name, level } of inherited) {
      expect(this.loggers.has(name), name).toBe(true);
      const between = before.filter((other) => isConfigured(other) && isBelow(other.name, name));
      for (const logger of before) {
        const inherits =
          isBelow(logger.name, name) &&
          !isConfigured(logger) &&
          !between.some((other) => isBelow(logger.name, other.name));
        if (!inherits && logger.name !== name) continue;
        this.loggers.set(logger.name, { ...this.loggers.get(logger.name)!, effectiveLevel: level });
      }
    }
  }
}

const isConfigured = ({ configuredLevel }: Logger) => configuredLevel !== Level.UNSPECIFIED;

function isBelow(name: string, other: string): boolean {
  if (other === "ROOT") return name !== "ROOT";
  const dots = (text: string) => text.replaceAll(/[:/]/g, ".");
  return dots(name).startsWith(`${dots(other)}.`);
}

/** Loggers that remember every list that they gave. */
class RecordedLoggers extends Loggers {
  readonly lists = new Map<bigint, LoggersOverview>();

  override list(): LoggersOverview {
    const overview = super.list();
    this.lists.set(BigInt(overview.revision), overview);
    return overview;
  }
}

interface Selection {
  readonly prefix: string;
  readonly reach: Reach;
}

/** What a client with this selection shows if it shows this list. */
function shownOf({ loggers, groups }: LoggersOverview, { prefix, reach }: Selection) {
  const selects = (each: LoggersOverview["loggers"][number] | LoggersOverview["groups"][number]) =>
    hasPrefix(each.name, prefix) && isVisible(each, reach);
  return {
    loggers: new Map(loggers.filter(selects).map((each) => [each.name, loggerToProto(each)])),
    groups: new Map(groups.filter(selects).map((each) => [each.name, groupToProto(each)])),
  };
}

const overTheWire = (event: WatchLoggersResponse) =>
  fromBinary(WatchLoggersResponseSchema, toBinary(WatchLoggersResponseSchema, event));

const inheritedIn = ({ event }: WatchLoggersResponse): readonly InheritedLevel[] =>
  event.case === "change" ? event.value.inherited : [];

describe("a compact watcher knows what others know", () => {
  const detaches: (() => void)[] = [];
  afterEach(() => {
    vi.useRealTimers();
    for (const detach of detaches.splice(0)) detach();
  });

  const names = ["a", "a.b", "a.b.c", "a:b:c:d", "a-b", "o", "o.p", "o.p.q", "o/r", "x", "x.y"];
  /** Enough loggers below some names for an inherited level to be worth while. */
  const DEEP = ["a.b.c", "o.p.q", "x.y"].flatMap((each) => [each, `${each}.1`, `${each}.2`, `${each}:2:3`]);
  const level = fc.constantFrom(...LEVELS);
  const name = fc.constantFrom("ROOT", ...names, "new.a", "new.a.b", "g", "p");
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("set" as const), name, level }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("set" as const), name: fc.constant("ROOT"), level }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("clear" as const), name }) },
    fc.record({ do: fc.constant("for" as const), name, level, ms: fc.integer({ min: 50, max: 500 }) }),
    fc.record({ do: fc.constant("restore" as const) }),
    fc.record({ do: fc.constant("child" as const), name: fc.constantFrom(...names, "x.y.z"), own: fc.option(level) }),
    fc.record({ do: fc.constant("application" as const), which: fc.nat(100), level }),
    fc.record({ do: fc.constant("library" as const), names: fc.subarray(names), own: level, rounds: fc.boolean() }),
    fc.record({ do: fc.constant("detach" as const) }),
    fc.record({ do: fc.constant("warn" as const), name: fc.constantFrom(...names) }),
    { weight: 6, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 50, 150) }) },
    { weight: 8, arbitrary: fc.record({ do: fc.constant("read" as const), which: fc.nat(100) }) },
    { weight: 8, arbitrary: fc.record({ do: fc.constant("readAll" as const) }) },
    fc.record({
      do: fc.constant("watch" as const),
      prefix: fc.constantFrom("", "", "a", "a.b", "o.", "R", "none"),
      reach: fc.constantFrom<Reach>(undefined, undefined, ["a.b", "o"], ["x"]),
      compact: fc.constantFrom(true, true, true, false),
      eager: fc.boolean(),
    }),
  );
  const natively = new Map(LEVELS.map((each) => [each, each === "OFF" ? "silent" : each.toLowerCase()]));

  test("after every event, whatever happens", { tags: ["slow"], timeout: 120_000 }, () => know(400));
  test("after every event, in a few runs", () => know(60));

  async function know(numRuns: number): Promise<void> {
    let compactEvents = 0;
    const run = async (maxBytes: number, steps: readonly Steps[]) => {
      vi.useFakeTimers({
        toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "performance", "Date"],
      });
      const loggers = new RecordedLoggers({ groups: { g: ["a.b", "x"], p: ["o.*"] } });
      let host: LoggerHost | undefined;
      const attach = (given: LoggerHost) => {
        host = given;
        return () => undefined;
      };
      const root = pino({ level: "info" }, { write: () => undefined });
      const natives = [root, ...DEEP.map((each) => root.child({ name: each }))];
      detaches.push(loggers.attach(pinoLoggers(root)));
      detaches.push(loggers.attach({ kind: "host", attach }));
      const libraries: (() => void)[] = [];
      const watch = watchLoggers(loggers, { maxBytes, heartbeatMs: 1_000 });
      const watchers: ReturnType<typeof open>[] = [];
      let failure: Error | undefined;

      function open({ prefix, reach, compact, eager }: Selection & { compact: boolean; eager: boolean }) {
        const request = create(WatchLoggersRequestSchema, { namePrefix: prefix, compact });
        return {
          compact,
          eager,
          selection: { prefix, reach },
          naive: new NaiveClient(),
          shared: new WatchedLoggers(),
          events: watch(request, reach),
          pending: undefined as Promise<unknown> | undefined,
        };
      }
      // A reader that waits already does not ask again.
      const read = (watcher: (typeof watchers)[number]) => {
        watcher.pending ??= watcher.events.next().then(({ value }) => {
          watcher.pending = undefined;
          if (value === undefined) return;
          try {
            check(watcher, overTheWire(value));
          } catch (error) {
            failure ??= error as Error;
          }
          if (watcher.eager) read(watcher);
        });
      };
      function check({ naive, shared, selection, compact }: (typeof watchers)[number], event: WatchLoggersResponse) {
        naive.take(event);
        shared.apply(event);
        expect(shared.loggers).toEqual(naive.loggers);
        expect(shared.groups).toEqual(naive.groups);
        const isCompact = inheritedIn(event).length > 0;
        if (isCompact) {
          compactEvents++;
          expect([compact, event.more]).toEqual([true, false]);
        }
        // Pieces may be of a later state; then the client has some of that already, and the rest follows.
        const isLatest = [...loggers.lists.keys()].at(-1) === event.revision;
        if (event.more || !(isCompact || isLatest)) return;
        expect({ loggers: naive.loggers, groups: naive.groups }).toEqual(
          shownOf(loggers.lists.get(event.revision)!, selection),
        );
      }

      for (const eager of [true, false]) watchers.push(open({ prefix: "", reach: undefined, compact: true, eager }));
      for (const watcher of watchers) read(watcher);
      await vi.advanceTimersByTimeAsync(1);
      for (const at of steps) {
        if (at.do === "set") loggers.setLevel(at.name, at.level);
        else if (at.do === "for") loggers.setLevel(at.name, at.level, { ttlMs: at.ms });
        else if (at.do === "clear") loggers.setLevel(at.name, undefined);
        else if (at.do === "restore") loggers.restoreAllLevels();
        else if (at.do === "child") {
          const child = root.child({ name: at.name }, at.own === null ? {} : { level: natively.get(at.own)! });
          natives.push(child);
        } else if (at.do === "application") natives[at.which % natives.length]!.level = natively.get(at.level)!;
        else if (at.do === "library") libraries.push(loggers.attach(libraryThat(at)));
        else if (at.do === "detach") libraries.pop()?.();
        else if (at.do === "warn") host!.warn(at.name, "keeps its own level");
        else if (at.do === "pass") await vi.advanceTimersByTimeAsync(at.ms);
        else if (at.do === "watch") watchers.push(open(at));
        else if (at.do === "read") read(watchers[at.which % watchers.length]!);
        else for (const watcher of watchers) read(watcher);
        if (failure !== undefined) throw failure;
      }
      for (const watcher of watchers) {
        while (watcher.naive.revision < loggers.revision) {
          read(watcher);
          await vi.advanceTimersByTimeAsync(500);
          if (failure !== undefined) throw failure;
        }
        expect({ loggers: watcher.naive.loggers, groups: watcher.naive.groups }).toEqual(
          shownOf(loggers.list(), watcher.selection),
        );
        await watcher.events.return?.();
      }
      await loggers.close();
      for (const detach of [...libraries, ...detaches.splice(0)]) detach();
      vi.useRealTimers();
    };
    const inputs = [fc.constantFrom(200, 600, 2_000, 1 << 20), fc.array(step, { maxLength: 80, size: "max" })] as const;
    await fc.assert(fc.asyncProperty(...inputs, run), { numRuns });
    expect(compactEvents).toBeGreaterThan(numRuns / 3);
  }

  type Steps = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

  /** A library beside pino, which has the same names and may lack levels. */
  function libraryThat({ names, own, rounds }: { names: readonly string[]; own: LevelName; rounds: boolean }) {
    const reach = (asked: LevelName): LevelName => (rounds && asked === "TRACE" ? "DEBUG" : asked);
    return {
      kind: "other",
      attach(host: LoggerHost) {
        for (const each of names) host.discovered(each, nativeHandle(own, reach), own);
        return () => undefined;
      },
    };
  }
});

test("a watcher that got a part of the next state already gets all loggers", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const loggers = new Loggers();
  loggers.attach(libraryOf(Array.from({ length: 30 }, (_, index) => `a.${index}`)));
  // Two loggers of the name that differ inherit nothing, although the name shows no level as configured.
  const attach = (host: LoggerHost) => {
    for (const own of ["DEBUG", "INFO"] as const) host.discovered("x.1", nativeHandle(own), own);
    return () => undefined;
  };
  loggers.attach({ kind: "other", attach });
  loggers.setLevel("x", "ERROR");
  const watch = watchLoggers(loggers, { maxBytes: 600, heartbeatMs: 10_000 });
  const events = watch(create(WatchLoggersRequestSchema, { compact: true }));
  const client = new NaiveClient();
  const take = async () => client.take((await events.next()).value!);

  await take();
  loggers.setLevel("ROOT", "WARN");
  loggers.setLevel("x", undefined);
  await vi.advanceTimersByTimeAsync(200);
  while (client.revision < loggers.revision) await take();
  await events.return?.();
  expect(client.loggers).toEqual(shownOf(loggers.list(), { prefix: "", reach: undefined }).loggers);
  expect(client.loggers.get("x.1")).toMatchObject({ effectiveLevel: Level.DEBUG });
});

const LEVEL_OF_ROOT = { name: "ROOT", level: Level.WARN };

describe.each(WIRES)("over $protocol, HTTP/$httpVersion", (wire) => {
  async function watching(request: { readonly compact?: boolean }) {
    const loggers = new Loggers();
    const names = Array.from({ length: 2_000 }, (_, index) => `com.example.module${index % 10}.Service${index}`);
    loggers.attach(libraryOf(names));
    const { url } = await serveRpc({ loggers });
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const client = createClient(LoggersService, transportOver(wire, url));
    const events = client.watchLoggers(request, { signal: abort.signal })[Symbol.asyncIterator]();
    const known = new WatchedLoggers();
    const next = async () => {
      for (;;) {
        const { value } = await events.next();
        const change = known.apply(value);
        if (change !== undefined) return { event: value as WatchLoggersResponse, change };
      }
    };
    await next();
    return { loggers, known, next };
  }

  test("a change of ROOT is one level and ROOT", async () => {
    const { loggers, known, next } = await watching({ compact: true });
    loggers.setLevel("ROOT", "WARN");
    const { event, change } = await next();
    expect(event.event.value).toMatchObject({ inherited: [LEVEL_OF_ROOT], loggers: [{ name: "ROOT" }], removed: [] });
    expect(toBinary(WatchLoggersResponseSchema, event).length).toBeLessThan(100);
    expect([...known.loggers]).toEqual(loggers.list().loggers.map((logger) => [logger.name, loggerToProto(logger)]));
    expect(change.loggers.size).toBe(known.loggers.size);
    expect(change.before.get("com")).toMatchObject({ effectiveLevel: Level.INFO });
  });

  test("a client that does not ask for it gets all loggers", async () => {
    const { loggers, known, next } = await watching({});
    loggers.setLevel("ROOT", "WARN");
    const { event, change } = await next();
    expect(inheritedIn(event)).toEqual([]);
    expect(change.loggers.size).toBe(known.loggers.size);
  });
});

describe("what a compact change has", () => {
  /** Inherited levels, and the names of the loggers that are listed, after a change that a watcher with this selection sees. */
  async function changeOf(change: (loggers: Loggers) => unknown, selection: Partial<Selection> = {}) {
    const loggers = new Loggers({ groups: { g: ["a.b", "x"] } });
    const below = ["a.b", "a.b.c", "o.p", "x"].flatMap((each) => [1, 2, 3, 4].map((index) => `${each}.${index}`));
    loggers.attach(libraryOf(below));
    loggers.setLevel("o.p", "ERROR");
    const watch = watchLoggers(loggers, { maxBytes: 1 << 20, heartbeatMs: 10_000 });
    const request = create(WatchLoggersRequestSchema, { namePrefix: selection.prefix ?? "", compact: true });
    const events = watch(request, selection.reach);
    await events.next();
    change(loggers);
    const event = overTheWire((await events.next()).value!);
    await events.return?.();
    const value = event.event.value as Change;
    return {
      inherited: value.inherited.map((each) => `${each.name} ${levelFromProto(each.level)}`),
      loggers: value.loggers.map((each) => each.name),
      groups: value.groups.map((each) => each.name),
    };
  }

  const cases: readonly (readonly [string, Parameters<typeof changeOf>, Awaited<ReturnType<typeof changeOf>>])[] = [
    [
      "ROOT, with a level in between",
      [(loggers) => loggers.setLevel("ROOT", "WARN")],
      { inherited: ["ROOT WARN"], loggers: ["ROOT"], groups: [] },
    ],
    [
      "a name that inherited",
      [(loggers) => loggers.setLevel("a.b", "DEBUG")],
      { inherited: ["a.b DEBUG"], loggers: ["a.b"], groups: ["g"] },
    ],
    [
      "a cleared name, which inherits again",
      [(loggers) => loggers.setLevel("o.p", undefined)],
      { inherited: ["o.p INFO"], loggers: ["o.p"], groups: [] },
    ],
    [
      "two levels at once, the upper first",
      [(loggers) => [loggers.setLevel("a.b.c", "TRACE"), loggers.setLevel("ROOT", "WARN")]],
      { inherited: ["ROOT WARN", "a.b.c TRACE"], loggers: ["ROOT", "a.b.c"], groups: [] },
    ],
    [
      "the same level at a name that was configured, which no level from above reaches",
      [(loggers) => [loggers.setLevel("o.p", "WARN"), loggers.setLevel("ROOT", "WARN")]],
      { inherited: ["ROOT WARN", "o.p WARN"], loggers: ["ROOT", "o.p"], groups: [] },
    ],
    [
      "a group, as its members",
      [(loggers) => loggers.setLevel("g", "OFF")],
      { inherited: ["x OFF", "a.b OFF"], loggers: ["a.b", "x"], groups: ["g"] },
    ],
    [
      "a new logger, in full",
      [(loggers) => [loggers.setLevel("ROOT", "WARN"), loggers.attach(libraryOf(["x.9"]))]],
      { inherited: ["ROOT WARN"], loggers: ["ROOT", "x.9"], groups: [] },
    ],
    [
      "few loggers, in full",
      [(loggers) => loggers.setLevel("o.p.1", "WARN")],
      { inherited: [], loggers: ["o.p.1"], groups: [] },
    ],
    [
      "ROOT, for a caller who may see some names only",
      [(loggers) => loggers.setLevel("ROOT", "WARN"), { reach: ["a.b.c", "o"] }],
      { inherited: ["a.b.c WARN"], loggers: ["o"], groups: [] },
    ],
    [
      "ROOT, for a watch of a prefix",
      [(loggers) => loggers.setLevel("ROOT", "WARN"), { prefix: "a.b.c." }],
      { inherited: [], loggers: ["a.b.c.1", "a.b.c.2", "a.b.c.3", "a.b.c.4"], groups: [] },
    ],
    [
      "a level of a hidden name, of which only the loggers are told",
      [(loggers) => loggers.setLevel("a", "FATAL"), { reach: ["a.b.c"] }],
      { inherited: ["a.b.c FATAL"], loggers: [], groups: [] },
    ],
  ];
  test.each(cases)("%s", async (_, args, expected) => {
    expect(await changeOf(...args)).toEqual(expected);
  });
});
