import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import { LEVELS, type Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { NativeTree } from "../support/native-tree.ts";

/** The same in the most naive way: a level by name, looked up from the name upwards. */
class NaiveModel {
  readonly configured = new Map<string, Level>([["ROOT", "INFO"]]);
  readonly temporary = new Map<string, { readonly level: Level | undefined; readonly until: number }>();
  readonly names = new Set<string>(["ROOT"]);

  know(name: string): void {
    const parts = name.split(".");
    for (let length = 1; length <= parts.length; length++) this.names.add(parts.slice(0, length).join("."));
  }

  set(name: string, level: Level | undefined): void {
    this.temporary.delete(name);
    this.#put(name, level);
  }

  setFor(name: string, level: Level, until: number): void {
    const first = this.temporary.get(name) ?? { level: this.configured.get(name) };
    this.temporary.set(name, { level: first.level, until });
    this.#put(name, level);
  }

  passTo(now: number): void {
    for (const [name, { level, until }] of [...this.temporary]) if (until <= now) this.set(name, level);
  }

  #put(name: string, level: Level | undefined): void {
    this.know(name);
    if (level !== undefined) this.configured.set(name, level);
    else if (name === "ROOT") this.configured.set(name, "INFO");
    else this.configured.delete(name);
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
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), time: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restore" as const), name: anyName }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("outside" as const), which: index, level }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("gone" as const), which: index }) },
);

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

test("the tree and every native logger agree with a naive model, whatever happens in whatever order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const loggers = new Loggers();
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
          loggers.setLevel(at.name, at.level, { ttl: at.ttl });
          model.setFor(at.name, at.level, performance.now() + at.ttl);
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
