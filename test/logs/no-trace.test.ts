import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type Level, levelVerbosity } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import { Logs } from "../../src/logs/logs.ts";
import type { Tail } from "../../src/logs/tail.ts";
import { WrittenLibrary } from "./written-library.ts";

const NAMES = ["a", "a.b", "a.b.c", "d"];
const SELECTIONS = [["a"], ["a.*"], ["a.b", "d"], ["group"], []];

const name = fc.constantFrom("ROOT", ...NAMES);
const level = fc.constantFrom<Level>("WARN", "INFO", "DEBUG", "TRACE");
const step = fc.oneof(
  fc.record({
    type: fc.constant("open" as const),
    names: fc.constantFrom(...SELECTIONS),
    level: fc.option(level, { nil: undefined }),
    raise: fc.option(level, { nil: undefined }),
    onlyHere: fc.boolean(),
    ttlMs: fc.option(fc.integer({ min: 100, max: 5_000 }), { nil: undefined }),
  }),
  fc.record({ type: fc.constant("close" as const), at: fc.nat(9) }),
  fc.record({ type: fc.constant("application" as const), name, level }),
  fc.record({
    type: fc.constant("operator" as const),
    name,
    level: fc.option(level, { nil: undefined }),
    ttlMs: fc.option(fc.integer({ min: 100, max: 5_000 }), { nil: undefined }),
  }),
  fc.record({ type: fc.constant("restore" as const), name }),
  fc.record({ type: fc.constant("write" as const), name, level }),
  fc.record({ type: fc.constant("write" as const), name, level }),
  fc.record({ type: fc.constant("pass" as const), ms: fc.integer({ min: 50, max: 3_000 }) }),
);

/** An application with its operators; one of two that differ only in that tails are opened in it. */
function application() {
  const library = new WrittenLibrary(NAMES);
  const loggers = new Loggers({ groups: { group: ["a.b", "d"] }, allowForever: true });
  loggers.attach(library);
  return { library, loggers, logs: new Logs(loggers) };
}

interface OpenTail {
  readonly tail: Tail;
  readonly names: readonly string[];
  readonly verbosity: number;
  readonly hidden: number;
  readonly raisedUntil: number;
  readonly received: string[];
  readonly expected: string[];
}

function selects(names: readonly string[], logger: string): boolean {
  const members = names.flatMap((each) => (each === "group" ? ["a.b", "d"] : each));
  return members.length === 0 || members.includes(logger) || (members.includes("a.*") && logger.startsWith("a."));
}

function receive(open: OpenTail): void {
  for (let event = open.tail.take(); event !== undefined; event = open.tail.take()) {
    if (event.type === "records") {
      open.received.push(...event.records.map(({ message, onlyHere }) => `${message}${onlyHere ? " hidden" : ""}`));
    } else expect(event.type).toBe("raiseEnded");
  }
}

test("tails receive exactly what is written and what is made for them, and leave no trace", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      vi.useFakeTimers({
        toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "Date", "performance"],
      });
      const watched = application();
      const alone = application();
      const both = [watched, alone];
      let tails: OpenTail[] = [];
      let count = 0;
      for (const step of steps) {
        if (step.type === "open") {
          const { names, onlyHere, ttlMs } = step;
          const raise = step.raise && { level: step.raise, onlyHere, ttlMs };
          const tail = watched.logs.open({ names, level: step.level, raise });
          const verbosity = levelVerbosity(step.level ?? "TRACE");
          const hidden = onlyHere && raise ? levelVerbosity(raise.level) : 0;
          const raisedUntil = ttlMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + ttlMs;
          tails.push({ tail, names, verbosity, hidden, raisedUntil, received: [], expected: [] });
        } else if (step.type === "close") {
          const [closed] = tails.splice(step.at, 1);
          if (closed === undefined) continue;
          await vi.advanceTimersByTimeAsync(50);
          for (const open of [closed, ...tails]) receive(open);
          closed.tail.close();
          expect(closed.received).toEqual(closed.expected);
        } else if (step.type === "application") for (const { library } of both) library.setLevel(step.name, step.level);
        else if (step.type === "operator") {
          const { name, level, ttlMs } = step;
          for (const { loggers } of both) loggers.setLevel(name, level, level === undefined ? {} : { ttlMs });
        } else if (step.type === "restore") for (const { loggers } of both) loggers.restoreLevel(step.name);
        else if (step.type === "pass") await vi.advanceTimersByTimeAsync(step.ms);
        else {
          const message = `${count++}`;
          const verbosity = levelVerbosity(step.level);
          const isWritten = verbosity <= levelVerbosity(watched.library.levelOf(step.name));
          for (const open of tails) {
            if (!selects(open.names, step.name) || verbosity > open.verbosity) continue;
            const isHidden = !isWritten && verbosity <= open.hidden && Date.now() < open.raisedUntil;
            if (isWritten || isHidden) open.expected.push(`${message}${isHidden ? " hidden" : ""}`);
          }
          const { written } = watched.library;
          const before = written.length;
          watched.library.write(step.name, step.level, message);
          expect(written.length - before).toBe(isWritten ? 1 : 0);
        }
      }
      await vi.advanceTimersByTimeAsync(50);
      for (const open of tails) {
        receive(open);
        open.tail.close();
        expect(open.received).toEqual(open.expected);
      }
      tails = [];
      const levelsOf = ({ library }: typeof watched) => NAMES.map((each) => library.levelOf(each));
      expect(levelsOf(watched)).toEqual(levelsOf(alone));
      await vi.advanceTimersByTimeAsync(10_000);
      expect(levelsOf(watched)).toEqual(levelsOf(alone));
      expect(watched.library.isHeard).toBe(false);
      for (const { logs, loggers } of both) {
        logs.close();
        await loggers.close();
      }
      expect(levelsOf(watched)).toEqual(levelsOf(alone));
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 1_000 },
  );
  vi.useRealTimers();
});
