import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import type { Lease } from "../../src/loggers/lease.ts";
import { LEVELS, type Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { NativeTree } from "../support/native-tree.ts";

interface Native {
  readonly name: string;
  readonly parent: Native | undefined;
  own: Level | undefined;
}

/** The same in the most naive way: a level by name, looked up from the name upwards for one native logger. */
class NaiveModel {
  /** What operators set for good: a level, or to inherit. */
  readonly lasting = new Map<string, Level | "cleared">();
  /** Temporary levels of every name, the latest last; those of a lease bear its number. */
  temporary: { readonly name: string; readonly level: Level; readonly until: number; readonly lease?: number }[] = [];
  natives: Native[] = [];
  readonly cleared = new Set<string>();

  /** The names that are listed: those of loggers and settings, with their ancestors. */
  get names(): ReadonlySet<string> {
    const names = new Set<string>(["ROOT"]);
    const settings = this.temporary.map(({ name }) => name).filter((name) => name !== "group");
    for (const name of [...this.natives.map(({ name }) => name), ...this.lasting.keys(), ...settings]) {
      for (const each of pathOf(name)) names.add(each);
    }
    return names;
  }

  set(name: string, level: Level | undefined): void {
    const isCleared = name !== "ROOT" && this.#at(name).some(({ own }) => own !== undefined);
    this.temporary = this.temporary.filter((temporary) => temporary.name !== name);
    if (level === undefined) for (const each of pathOf(name)) this.cleared.add(each);
    if (level !== undefined) this.lasting.set(name, level);
    else if (isCleared) this.lasting.set(name, "cleared");
    else this.lasting.delete(name);
  }

  restore(name: string): void {
    this.temporary = this.temporary.filter((temporary) => temporary.name !== name);
    this.lasting.delete(name);
  }

  setFor(name: string, level: Level, until: number): void {
    const isSame = (other: NaiveModel["temporary"][number]) =>
      other.name === name && other.lease === undefined && other.level === level;
    this.temporary = this.temporary.filter((temporary) => !isSame(temporary));
    this.temporary.push({ name, level, until });
  }

  hold(name: string, level: Level, until: number, lease: number): void {
    this.temporary.push({ name, level, until, lease });
  }

  release(lease: number): void {
    this.temporary = this.temporary.filter((temporary) => temporary.lease !== lease);
  }

  passTo(now: number): void {
    this.temporary = this.temporary.filter(({ until }) => until > now);
  }

  configured(name: string): Level | undefined {
    const set = this.#set(name);
    if (set === "cleared") return undefined;
    const own = new Set(this.#at(name).map((native) => native.own));
    if (own.size === 0 && name === "ROOT") return set ?? "INFO";
    return set ?? (own.size === 1 ? [...own][0] : undefined);
  }

  /** The most verbose of the name's loggers or, without one, what it inherits. */
  shown(name: string): Level {
    const levels = this.#at(name).map((native) => this.effective(native));
    if (levels.length > 0) return LEVELS[Math.max(...levels.map((each) => LEVELS.indexOf(each)))]!;
    const set = this.#set(name);
    if (set !== undefined && set !== "cleared") return set;
    return name === "ROOT" ? "INFO" : this.shown(above(name));
  }

  effective(native: Native): Level {
    let at = native;
    let isCleared = false;
    for (const name of pathOf(native.name)) {
      const set = this.#set(name);
      if (set === "cleared") isCleared = true;
      else if (set !== undefined) return set;
      else if (isCleared) {
        const own = this.#at(name).flatMap((other) => other.own ?? []);
        if (own.length > 0) return LEVELS[Math.max(...own.map((each) => LEVELS.indexOf(each)))]!;
        if (name === "ROOT") return this.shown(name);
      } else {
        while (at.own === undefined && at.parent?.name === name) at = at.parent;
        if (at.own !== undefined && at.name === name) break;
      }
    }
    let source: Native | undefined = native;
    while (source!.own === undefined) source = source!.parent;
    return source!.own!;
  }

  #at(name: string): Native[] {
    return this.natives.filter((native) => native.name === name);
  }

  #set(name: string): Level | "cleared" | undefined {
    return this.temporary.findLast((temporary) => temporary.name === name)?.level ?? this.lasting.get(name);
  }
}

function above(name: string): string {
  return name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "ROOT";
}

/** The name and its ancestors, up to ROOT. */
function pathOf(name: string): readonly string[] {
  return name === "ROOT" ? [name] : [name, ...pathOf(above(name))];
}

const segment = fc.constantFrom("a", "b");
const name = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("."));
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
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("make" as const),
      name,
      parent: index,
      own: fc.option(level, { nil: undefined, freq: 2 }),
    }),
  },
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
    fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
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
      model.natives.push({ name: "ROOT", parent: undefined, own: "INFO" });
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
          if (at.name === "group") model.hold("group", at.level, until, leases.length);
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
          if (loggers.get(at.name) === undefined) continue;
          loggers.restoreLevel(at.name);
          model.restore(at.name);
        } else if (at.do === "make") {
          const parent = at.parent % held.length;
          held.push(native.make(at.name, held[parent], at.own));
          model.natives.push({ name: at.name, parent: model.natives[parent], own: at.own });
        } else if (at.do === "outside") {
          const which = at.which % held.length;
          held[which]!.setByApplication(at.level);
          model.natives[which]!.own = at.level;
          model.restore(held[which]!.name);
        } else if (held.length > 1) {
          // A parent lives as long as its children.
          const which = 1 + (at.which % (held.length - 1));
          if (held.some(({ parent }) => parent === held[which])) continue;
          const [logger] = held.splice(which, 1);
          model.natives.splice(which, 1);
          host!.gone(logger!);
        }
        for (const [index, { end }] of leases.entries()) {
          expect(end === undefined).toBe(model.temporary.some(({ lease }) => lease === index));
        }
        for (const [index, logger] of held.entries()) {
          expect(logger.level, logger.name).toBe(model.effective(model.natives[index]!));
        }
      }
      // What was cleared may still be listed, with nothing of its own.
      const listed = loggers.list().loggers.filter(({ name }) => model.names.has(name) || !model.cleared.has(name));
      expect(listed.map((logger: Logger) => [logger.name, logger.configuredLevel, logger.effectiveLevel])).toEqual(
        ["ROOT", ...[...model.names].filter((known) => known !== "ROOT").sort()].map((known) => [
          known,
          model.configured(known),
          model.shown(known),
        ]),
      );
    }),
    { numRuns: 2_000 },
  );
});
