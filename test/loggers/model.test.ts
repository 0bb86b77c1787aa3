import fc from "fast-check";
import { expect, test } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import { LEVELS, type Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { NativeTree } from "../support/native-tree.ts";

/** The same in the most naive way: a level by name, looked up from the name upwards. */
class NaiveModel {
  readonly configured = new Map<string, Level>([["ROOT", "INFO"]]);
  readonly names = new Set<string>(["ROOT"]);

  know(name: string): void {
    const parts = name.split(".");
    for (let length = 1; length <= parts.length; length++) this.names.add(parts.slice(0, length).join("."));
  }

  set(name: string, level: Level | undefined): void {
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
  { weight: 2, arbitrary: fc.record({ do: fc.constant("outside" as const), which: index, level }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("gone" as const), which: index }) },
);

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
