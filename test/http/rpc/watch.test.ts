import { create, toBinary } from "@bufbuild/protobuf";
import { type CallOptions, Code, ConnectError, createClient } from "@connectrpc/connect";
import fc from "fast-check";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import {
  type Logger,
  type LoggerGroup,
  LoggersService,
  type Snapshot,
  WatchLoggersRequestSchema,
  type WatchLoggersResponse,
  WatchLoggersResponseSchema,
} from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { groupToProto, loggerToProto } from "../../../src/http/rpc/logger-proto.ts";
import type { RpcOptions } from "../../../src/http/rpc/rpc-options.ts";
import { type Wanted, WatchPieces, watchLoggers } from "../../../src/http/rpc/watch-loggers.ts";
import { LEVELS } from "../../../src/loggers/level.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../../src/loggers/options.ts";
import { LoggersWatch } from "../../../src/loggers/watch.ts";
import { grpcClient, libraryOf, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { emptied } from "../../support/server-harness.ts";

/** Loggers that count who listens to them. */
class CountingLoggers extends Loggers {
  listeners = 0;

  override onRevision(listener: () => void): () => void {
    this.listeners++;
    const off = super.onRevision(listener);
    return () => {
      this.listeners--;
      off();
    };
  }
}

async function serve(names: Iterable<string>, options: LoggersOptions = {}, rpc?: Partial<RpcOptions>) {
  const loggers = new CountingLoggers(options);
  loggers.attach(libraryOf(names));
  const server = await serveRpc({ loggers }, rpc);
  return { ...server, loggers, client: grpcClient(LoggersService, server.url) };
}

/** The events of a stream, ended with the test or before: a client of connect ends a call by its signal alone. */
function abortable<T>(call: (options: CallOptions) => AsyncIterable<T>) {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const events = call({ signal: abort.signal })[Symbol.asyncIterator]();
  return { events, next: async () => (await events.next()).value as T, abort: () => abort.abort() };
}

/** What a client knows that replaces what it knew by a snapshot and puts changes into it. */
class Known {
  readonly loggers = new Map<string, Logger>();
  readonly groups = new Map<string, LoggerGroup>();
  revision = 0n;

  take({ event, revision, more }: WatchLoggersResponse): void {
    expect(revision).toBeGreaterThanOrEqual(this.revision);
    if (event.case === "snapshot") {
      this.loggers.clear();
      this.groups.clear();
    }
    if (event.case === "snapshot" || event.case === "change") {
      for (const logger of event.value.loggers) this.loggers.set(logger.name, logger);
      for (const group of event.value.groups) this.groups.set(group.name, group);
    }
    if (event.case === "change") for (const name of event.value.removed) this.loggers.delete(name);
    if (!more) this.revision = revision;
  }

  expectAll(loggers: Loggers, prefix = ""): void {
    const list = loggers.list();
    const named = <T extends { readonly name: string }>(all: Iterable<T>) =>
      [...all].filter(({ name }) => name.startsWith(prefix)).sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(named(this.loggers.values())).toEqual(named(list.loggers.map(loggerToProto)));
    expect(named(this.groups.values())).toEqual(named(list.groups.map(groupToProto)));
  }
}

describe.each(WIRES)("WatchLoggers over $protocol, HTTP/$httpVersion", (wire) => {
  test("tells everything, then what changes, and leaves nothing when its client goes", async () => {
    const { url, loggers, listener, errors } = await serve(["a.b", "b"], { groups: { g: ["a.b", "b"] } });
    const { next, abort } = abortable((options) =>
      createClient(LoggersService, transportOver(wire, url)).watchLoggers({}, options),
    );
    const known = new Known();
    const first = await next();
    expect(first.event.case).toBe("snapshot");
    expect(first).toMatchObject({ revision: BigInt(loggers.revision), more: false });
    known.take(first);
    known.expectAll(loggers);
    expect([...known.loggers.keys()]).toEqual(["ROOT", "a", "a.b", "b"]);

    loggers.setLevel("a", "DEBUG", { reason: "ticket 812" });
    const second = await next();
    expect(second).toMatchObject({
      event: {
        case: "change",
        value: {
          loggers: [
            { name: "a", configuredLevel: Level.DEBUG, override: { reason: "ticket 812" } },
            { name: "a.b", configuredLevel: Level.UNSPECIFIED, effectiveLevel: Level.DEBUG },
          ],
          groups: [{ name: "g", mixed: true }],
          removed: [],
        },
      },
      revision: BigInt(loggers.revision),
      more: false,
    });
    known.take(second);
    known.expectAll(loggers);

    expect(loggers.listeners).toBe(1);
    abort();
    await expect.poll(() => loggers.listeners).toBe(0);
    await expect.poll(() => listener.counts.streams).toBe(0);
    expect(errors).toEqual([]);
  });

  test("ends with UNAVAILABLE when the server drains", async () => {
    const { url, loggers, rpc } = await serve(["a"]);
    const { events } = abortable((options) =>
      createClient(LoggersService, transportOver(wire, url)).watchLoggers({}, options),
    );
    await events.next();
    rpc.endStreams();
    const error = await events.next().then(() => undefined, ConnectError.from);
    expect(error).toMatchObject({ code: Code.Unavailable });
    await expect.poll(() => loggers.listeners).toBe(0);
  });
});

describe("WatchLoggers", () => {
  test("tells of what has the prefix, and of nothing else", async () => {
    const { client, loggers } = await serve(["a", "ab.c", "b"], { groups: { ag: ["b"], bg: ["a"] } });
    const { next } = abortable((options) => client.watchLoggers({ namePrefix: "a" }, options));
    const first = await next();
    expect(first).toMatchObject({
      event: { value: { loggers: [{ name: "a" }, { name: "ab" }, { name: "ab.c" }], groups: [{ name: "ag" }] } },
    });
    const all = abortable((options) => client.watchLoggers({}, options));
    await all.next();
    loggers.setLevel("b", "DEBUG");
    await all.next();
    loggers.setLevel("ab.c", "DEBUG");
    expect(await next()).toMatchObject({ event: { value: { loggers: [{ name: "ab.c" }], groups: [] } } });
  });

  test("begins with a snapshot even where there is nothing to tell of", async () => {
    const { client } = await serve(["a"]);
    const { next } = abortable((options) => client.watchLoggers({ namePrefix: "nothing" }, options));
    expect(await next()).toMatchObject({
      event: { case: "snapshot", value: { loggers: [], groups: [] } },
      more: false,
    });
  });

  test("tells that it lives, and up to where its client knows everything", async () => {
    const { client, loggers } = await serve(["a"], {}, { heartbeatMs: 20 });
    const { next } = abortable((options) => client.watchLoggers({ namePrefix: "a" }, options));
    const { revision } = await next();
    const heartbeat = { event: { case: "heartbeat", value: { interval: { nanos: 20_000_000 } } } };
    expect(await next()).toMatchObject({ ...heartbeat, revision });
    loggers.setLevel("b", "DEBUG");
    await expect.poll(next).toMatchObject({ ...heartbeat, revision: BigInt(loggers.revision) });
  });

  test("sends nothing of a kind twice where many change at once", async () => {
    const { client, loggers } = await serve(Array.from({ length: 1_000 }, (_, index) => `a.b${index}`));
    const { next } = abortable((options) => client.watchLoggers({}, options));
    const known = new Known();
    const readAll = async () => {
      let count = 0;
      for (let more = true; more; ) {
        const event = await next();
        known.take(event);
        more = event.more;
        if (event.event.case !== "heartbeat") count += event.event.value!.loggers.length;
      }
      return count;
    };
    expect(await readAll()).toBe(1_002);
    loggers.setLevel("ROOT", "DEBUG");
    expect(await readAll()).toBe(1_002);
    known.expectAll(loggers);
  });

  test("keeps each event within its limit, and goes on in the next, whatever changes meanwhile", async () => {
    const maxBytes = 4 * 1024;
    const names = Array.from({ length: 300 }, (_, index) => `a.logger${index}`);
    const groups = Object.fromEntries(names.slice(0, 100).map((name) => [`g.${name}`, [name]]));
    const { client, loggers } = await serve(names, { groups }, { writeMaxBytes: maxBytes });
    const { next } = abortable((options) => client.watchLoggers({}, options));
    const known = new Known();
    const cases: unknown[] = [];
    for (let index = 0; known.revision < loggers.revision; index++) {
      const event = await next();
      expect(toBinary(WatchLoggersResponseSchema, event).length).toBeLessThanOrEqual(maxBytes);
      known.take(event);
      cases.push(event.event.case);
      if (index === 2) {
        loggers.attach(libraryOf(["Z", "a.a", "z"]));
        loggers.setLevel("ROOT", "WARN");
      }
    }
    expect(cases.length).toBeGreaterThan(5);
    expect(cases.indexOf("change")).toBe(1);
    expect(cases.lastIndexOf("snapshot")).toBe(0);
    known.expectAll(loggers);
  });

  test("has a slow reader told the latest, and no more than that", async () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `a.logger${index}`);
    const { client, loggers, url } = await serve(names);
    const other = abortable((options) => client.watchLoggers({ namePrefix: "ROOT" }, options));
    // Uncompressed: all of it compressed would fit into the buffers between.
    const transport = transportOver({ protocol: "gRPC", httpVersion: "2" }, url, { acceptCompression: [] });
    const slow = abortable((options) => createClient(LoggersService, transport).watchLoggers({}, options));
    const known = new Known();
    known.take(await slow.next());
    await other.next();
    for (let round = 0; round < 20; round++) {
      loggers.setLevel("ROOT", round % 2 === 0 ? "DEBUG" : "INFO");
      await other.next();
    }
    loggers.setLevel("ROOT", "ERROR");
    let told = 0;
    while (known.revision < loggers.revision) {
      const event = await slow.next();
      known.take(event);
      told += event.event.case === "change" ? event.event.value.loggers.length : 0;
    }
    known.expectAll(loggers);
    // The rest of the snapshot, what was under way in buffers, and the last state: not twenty times everything.
    expect(told).toBeLessThan(8 * names.length);
  });

  test("takes a place among the streams, whose number is limited", async () => {
    const { client } = await serve(["a"], {}, { streams: { max: 1 } });
    await abortable((options) => client.watchLoggers({}, options)).next();
    const second = abortable((options) => client.watchLoggers({}, options)).next();
    await expect(second).rejects.toMatchObject({ code: Code.ResourceExhausted });
  });

  test("of a client whose connection is cut leaves nothing behind", async () => {
    const { client, loggers, listener } = await serve(["a"]);
    const watches = Array.from({ length: 20 }, () => abortable((options) => client.watchLoggers({}, options)));
    await Promise.all(watches.map(({ next }) => next()));
    expect(loggers.listeners).toBe(1);
    for (const { abort } of watches) abort();
    await expect.poll(() => loggers.listeners).toBe(0);
    await listener.drain({ deadlineMs: 0 });
    await emptied(listener);
  });
});

describe("watchers of every speed", () => {
  afterEach(() => void vi.useRealTimers());

  const step = fc.oneof(
    fc.record({
      do: fc.constant("set" as const),
      name: fc.constantFrom("ROOT", "a", "a.b", "g"),
      level: fc.constantFrom(...LEVELS),
    }),
    fc.record({ do: fc.constant("clear" as const), name: fc.constantFrom("a", "a.b", "g") }),
    fc.record({ do: fc.constant("setNew" as const), name: fc.stringMatching(/^[A-Za-z](\.[a-z]){0,2}$/) }),
    fc.record({ do: fc.constant("restore" as const) }),
    fc.record({ do: fc.constant("discover" as const), name: fc.stringMatching(/^[A-Za-z](\.[a-z]){0,2}$/) }),
    fc.record({ do: fc.constant("pass" as const), time: fc.integer({ min: 1, max: 300 }) }),
    fc.record({
      do: fc.constant("watch" as const),
      prefix: fc.constantFrom("", "a", "a.b", "R", "none"),
    }),
    fc.record({ do: fc.constant("read" as const), which: fc.nat(100) }),
    fc.record({ do: fc.constant("leave" as const), which: fc.nat(100) }),
  );

  test("know in the end what there is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        vi.useFakeTimers({
          toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "performance"],
        });
        const loggers = new CountingLoggers({ groups: { g: ["a.b", "c"] } });
        loggers.attach(libraryOf(["a.b", "c.d"]));
        const watch = watchLoggers(loggers, { maxBytes: 200, heartbeatMs: 1_000 });
        const watchers: {
          known: Known;
          prefix: string;
          events: ReturnType<typeof watch>;
          pending?: Promise<unknown>;
        }[] = [];
        // A reader that waits already is not to ask again.
        const read = (watcher: (typeof watchers)[number]) => {
          watcher.pending ??= watcher.events.next().then(({ value }) => {
            delete watcher.pending;
            if (value === undefined) return;
            watcher.known.take(value);
          });
        };
        for (const at of steps) {
          if (at.do === "set") loggers.setLevel(at.name, at.level);
          else if (at.do === "setNew") loggers.setLevel(at.name, "DEBUG");
          else if (at.do === "restore") loggers.restoreAllLevels();
          else if (at.do === "clear") loggers.setLevel(at.name, undefined);
          else if (at.do === "discover") loggers.attach(libraryOf([at.name]));
          else if (at.do === "pass") await vi.advanceTimersByTimeAsync(at.time);
          else if (at.do === "watch") {
            const request = create(WatchLoggersRequestSchema, { namePrefix: at.prefix });
            watchers.push({
              known: new Known(),
              prefix: at.prefix,
              events: watch(request),
            });
          } else if (watchers.length > 0) {
            const index = at.which % watchers.length;
            if (at.do === "read") read(watchers[index]!);
            else await watchers.splice(index, 1)[0]!.events.return?.();
          }
        }
        for (const watcher of watchers) {
          while (watcher.known.revision < loggers.revision) {
            read(watcher);
            await vi.advanceTimersByTimeAsync(500);
          }
          watcher.known.expectAll(loggers, watcher.prefix);
          await watcher.events.return?.();
        }
        expect([loggers.listeners, vi.getTimerCount()]).toEqual([0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("pieces", () => {
  function stateOf(count: number) {
    const groups = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`group${index}`, ["a1"]]));
    const loggers = new Loggers({ groups });
    loggers.attach(libraryOf(Array.from({ length: count }, (_, index) => `a${index}`)));
    const watch = new LoggersWatch(loggers);
    onTestFinished(watch.watch(() => {}));
    return { loggers, state: watch.state };
  }
  const wanted = { prefix: "", since: 0, until: 9, after: undefined } as const;

  test("are made once for all who want the same, and anew for another state", () => {
    const pieces = new WatchPieces(1 << 20);
    const { state } = stateOf(10);
    const piece = pieces.get(state, wanted);
    expect(pieces.get(state, { ...wanted })).toBe(piece);
    const others = [{ prefix: "a" }, { since: 1 }, { until: 8 }, { after: state.loggers[3]!.subject }];
    for (const other of others) expect(pieces.get(state, { ...wanted, ...other })).not.toBe(piece);
    expect(pieces.get({ ...state }, wanted)).not.toBe(piece);
  });

  test("hold everything once and in order", () => {
    const { loggers, state } = stateOf(500);
    const pieces = new WatchPieces(1_024);
    const names: string[] = [];
    for (let after: Wanted["after"] | "none" = "none"; after !== undefined; ) {
      const piece = pieces.get(state, { ...wanted, after: after === "none" ? undefined : after });
      const { value } = piece.response.event as { value: Snapshot };
      names.push(...value.loggers.map(({ name }) => name), ...value.groups.map(({ name }) => name));
      after = piece.last;
    }
    const { loggers: all, groups } = loggers.list();
    expect(names).toEqual([...all, ...groups].map(({ name }) => name));
    expect(groups).toHaveLength(100);
  });

  test("are forgotten when nobody watches any more", async () => {
    const clear = vi.spyOn(WatchPieces.prototype, "clear");
    onTestFinished(() => clear.mockRestore());
    const watch = watchLoggers(new Loggers(), { maxBytes: 1 << 20, heartbeatMs: 1_000 });
    const watches = [0, 1].map(() => watch(create(WatchLoggersRequestSchema)));
    for (const each of watches) await each.next();
    clear.mockClear();
    await watches[0]!.return?.();
    expect(clear).not.toHaveBeenCalled();
    await watches[1]!.return?.();
    expect(clear).toHaveBeenCalledOnce();
  });

  test("are dropped after a second, because watchers that wait need none", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const pieces = new WatchPieces(1 << 20);
    const { state } = stateOf(10);
    const piece = pieces.get(state, wanted);
    vi.advanceTimersByTime(999);
    expect(pieces.get(state, wanted)).toBe(piece);
    vi.advanceTimersByTime(1);
    expect(pieces.get(state, wanted)).not.toBe(piece);
  });

  test("are not kept without limit", () => {
    const pieces = new WatchPieces(1 << 20);
    const { state } = stateOf(10);
    const piece = pieces.get(state, wanted);
    for (let since = 1; since <= 32; since++) pieces.get(state, { ...wanted, since });
    expect(pieces.get(state, wanted)).not.toBe(piece);
  });

  test("are at most 64 KiB, however large a response may be", () => {
    const { state } = stateOf(5_000);
    const { response, last } = new WatchPieces(1 << 30).get(state, wanted);
    expect(last).toBeDefined();
    expect(toBinary(WatchLoggersResponseSchema, response).length).toBeLessThanOrEqual(64 * 1024);
  });
});
