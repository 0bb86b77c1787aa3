import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import type { Lease } from "../../src/loggers/lease.ts";
import { LEVELS, type Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { NativeTree } from "../support/native-tree.ts";

/** The same in the most naive way: a level by name, looked up from the name upwards. */
class NaiveModel {
  readonly configured = new Map<string, Level>([["ROOT", "INFO"]]);
  /** The permanent level of each name. */
  readonly lasting = new Map<string, Level>([["ROOT", "INFO"]]);
  /** Temporary levels of every name, the latest last; those of a lease bear its number. */
  temporary: { readonly name: string; readonly level: Level; readonly until: number; readonly lease?: number }[] = [];
  readonly names = new Set<string>(["ROOT"]);

  know(name: string): void {
    const parts = name.split(".");
    for (let length = 1; length <= parts.length; length++) this.names.add(parts.slice(0, length).join("."));
  }

  set(name: string, level: Level | undefined): void {
    this.know(name);
    if (level !== undefined) this.lasting.set(name, level);
    else if (name === "ROOT") this.lasting.set(name, "INFO");
    else this.lasting.delete(name);
    this.#keep((temporary) => temporary.name !== name);
  }

  setFor(name: string, level: Level, until: number): void {
    this.know(name);
    this.#keep((temporary) => temporary.name !== name || temporary.lease !== undefined);
    this.temporary.push({ name, level, until });
    this.#keep(() => true);
  }

  hold(name: string, level: Level, until: number, lease: number): void {
    this.know(name);
    this.temporary.push({ name, level, until, lease });
    this.#keep(() => true);
  }

  holdGroup(level: Level, until: number, lease: number): void {
    this.temporary.push({ name: "group", level, until, lease });
  }

  release(lease: number): void {
    this.#keep((temporary) => temporary.lease !== lease);
  }

  passTo(now: number): void {
    this.#keep(({ until }) => until > now);
  }

  #keep(still: (temporary: NaiveModel["temporary"][number]) => boolean): void {
    this.temporary = this.temporary.filter(still);
    this.configured.clear();
    for (const [name, level] of this.lasting) this.configured.set(name, level);
    for (const { name, level } of this.temporary) this.configured.set(name, level);
  }

  effective(name: string): Level {
    const parts = name.split(".");
    for (let length = parts.length; length > 0; length--) {
      const level = this.configured.get(parts.slice(0, length).join("."));
      if (level !== undefined) return level;
    }
    return this.configured.get("ROOT")!;
  }
}

const segment = fc.constantFrom("a", "b", "c");
const name = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));
const anyName = fc.oneof({ weight: 5, arbitrary: name }, { weight: 1, arbitrary: fc.constant("ROOT") });
const level = fc.constantFrom(...LEVELS);
const index = fc.nat(1_000);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      name: anyName,
      level: fc.option(level, { nil: undefined }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("make" as const), name, parent: index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("setFor" as const),
      name: anyName,
      level,
      ttl: fc.integer({ min: 1, max: 50 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("hold" as const),
      name: fc.oneof(anyName, fc.constant("group")),
      level,
      ttl: fc.option(fc.integer({ min: 1, max: 50 }), { nil: 0 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("release" as const), which: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), time: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restore" as const), name: anyName }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("outside" as const), which: index, level }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("gone" as const), which: index }) },
);

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

test("the tree and every native logger agree with a naive model after any sequence of changes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const members = ["a", "a.b", "ROOT"];
      const loggers = new Loggers({ groups: { group: members }, allowForever: true });
      const leases: Lease[] = [];
      const model = new NaiveModel();
      let host: LoggerHost | undefined;
      loggers.attach({
        kind: "test",
        attach: (given) => {
          host = given;
          return () => {};
        },
      });
      const native = new NativeTree(host!, "INFO");
      const held = [native.root];
      for (const at of steps) {
        if (at.do === "set") {
          loggers.setLevel(at.name, at.level);
          model.set(at.name, at.level);
        } else if (at.do === "setFor") {
          loggers.setLevel(at.name, at.level, { ttlMs: at.ttl });
          model.setFor(at.name, at.level, performance.now() + at.ttl);
        } else if (at.do === "hold") {
          const until = at.ttl === 0 ? Number.POSITIVE_INFINITY : performance.now() + at.ttl;
          for (const name of at.name === "group" ? members : [at.name]) {
            model.hold(name, at.level, until, leases.length);
          }
          // The group itself is held as well, and in these steps nothing but the end of the lease takes that away.
          if (at.name === "group") model.holdGroup(at.level, until, leases.length);
          leases.push(loggers.holdLevel(at.name, at.level, { ttlMs: at.ttl }).lease);
        } else if (at.do === "release") {
          if (leases.length === 0) continue;
          const lease = at.which % leases.length;
          leases[lease]!.release();
          model.release(lease);
        } else if (at.do === "pass") {
          vi.advanceTimersByTime(at.time);
          model.passTo(performance.now());
        } else if (at.do === "restore") {
          // No logger of this library is born with a level of its own: what the application configured is to inherit.
          if (loggers.get(at.name) === undefined) continue;
          loggers.restoreLevel(at.name);
          model.set(at.name, undefined);
        } else if (at.do === "make") {
          held.push(native.make(at.name, held[at.parent % held.length]));
          model.know(at.name);
        } else if (at.do === "outside") {
          const logger = held[at.which % held.length]!;
          logger.setByApplication(at.level);
          model.set(logger.name, at.level);
        } else if (held.length > 1) {
          const [logger] = held.splice(1 + (at.which % (held.length - 1)), 1);
          host!.gone(logger!);
        }
        for (const [index, { end }] of leases.entries()) {
          expect(end === undefined).toBe(model.temporary.some(({ lease }) => lease === index));
        }
        for (const logger of held) expect(logger.effective(), logger.name).toBe(model.effective(logger.name));
      }
      expect(
        loggers.list().loggers.map((logger: Logger) => [logger.name, logger.configuredLevel, logger.effectiveLevel]),
      ).toEqual(
        ["ROOT", ...[...model.names].filter((known) => known !== "ROOT").sort()].map((known) => [
          known,
          model.configured.get(known),
          model.effective(known),
        ]),
      );
    }),
    { numRuns: 2_000 },
  );
});
