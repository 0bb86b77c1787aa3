import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { CallTally, LoggerAdapter } from "../../src/loggers/adapter.ts";
import { LEVELS, type Level, levelVerbosity } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";

/** A library whose loggers are called by the test. */
class Library implements LoggerAdapter {
  readonly kind: string;
  readonly #tallies = new Map<string, CallTally | undefined>();
  #tallyOf: ((name: string) => CallTally | undefined) | undefined;

  constructor(kind = "test") {
    this.kind = kind;
  }

  get measured(): boolean {
    return this.#tallyOf !== undefined;
  }

  attach(): () => void {
    return () => undefined;
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    this.#tallyOf = tallyOf;
    return () => {
      this.#tallyOf = undefined;
      this.#tallies.clear();
    };
  }

  call(name: string, level: Level, times = 1, enabled = false): void {
    if (this.#tallyOf === undefined) return;
    if (!this.#tallies.has(name)) this.#tallies.set(name, this.#tallyOf(name));
    const tally = this.#tallies.get(name);
    if (tally !== undefined) (enabled ? tally.emitted : tally.suppressed)[levelVerbosity(level)]! += times;
  }
}

function loggersWith(...adapters: readonly LoggerAdapter[]): Loggers {
  const loggers = new Loggers();
  onTestFinished(() => loggers.close());
  for (const adapter of adapters) loggers.attach(adapter);
  return loggers;
}
const tally = (counts: Partial<Record<Level, number>>) => LEVELS.map((level) => counts[level] ?? 0);

describe("a measurement", () => {
  test("reports what was counted so far, the busiest first, and how long that took", () => {
    const library = new Library();
    const measurement = loggersWith(library).measure();
    library.call("a", "DEBUG");
    library.call("c", "DEBUG", 3);
    library.call("b", "INFO", 2, true);
    library.call("b", "DEBUG");
    const report = measurement.report();
    expect(report).toEqual({
      elapsedMs: expect.any(Number),
      ended: false,
      loggers: [
        { name: "b", emitted: tally({ INFO: 2 }), suppressed: tally({ DEBUG: 1 }) },
        { name: "c", emitted: tally({}), suppressed: tally({ DEBUG: 3 }) },
        { name: "a", emitted: tally({}), suppressed: tally({ DEBUG: 1 }) },
      ],
      total: { emitted: tally({ INFO: 2 }), suppressed: tally({ DEBUG: 5 }) },
      more: false,
      unmeasuredKinds: [],
    });
    library.call("a", "DEBUG");
    expect(measurement.report().total.suppressed).toEqual(tally({ DEBUG: 6 }));
    expect(measurement.report().elapsedMs).toBeGreaterThanOrEqual(report.elapsedMs);
  });

  test("includes only names with the prefix", () => {
    const library = new Library();
    const measurement = loggersWith(library).measure({ namePrefix: "orders." });
    for (const name of ["orders", "orders:payment", "orders.mail", "users"]) library.call(name, "INFO");
    expect(measurement.report().loggers.map(({ name }) => name)).toEqual(["orders.mail", "orders.payment"]);
  });

  test("lists the libraries that cannot be measured or that fail", () => {
    const broken: LoggerAdapter = {
      kind: "broken",
      attach: () => () => undefined,
      measure() {
        throw new Error("no");
      },
    };
    const plain = { kind: "plain", attach: () => () => undefined };
    const library = new Library();
    const loggers = loggersWith(broken, plain, library);
    const measurement = loggers.measure();
    expect(measurement.report().unmeasuredKinds).toEqual(["broken", "plain"]);
    expect(loggers.get("ROOT")).toMatchObject({ warnings: ["calls of broken not measured: Error: no"] });
    expect(library.measured).toBe(true);
  });

  test("ends by itself when its time is over, and keeps its counts", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const library = new Library();
    const measurement = loggersWith(library).measure({ durationMs: 5_000 });
    let ends = 0;
    measurement.onEnd(() => ends++);
    library.call("a", "INFO");
    vi.advanceTimersByTime(4_999);
    expect([library.measured, measurement.ended, ends]).toEqual([true, false, 0]);
    vi.advanceTimersByTime(1);
    expect([library.measured, measurement.ended, ends]).toEqual([false, true, 1]);
    const report = measurement.report();
    expect(report).toMatchObject({ ended: true, elapsedMs: 5_000, total: { suppressed: tally({ INFO: 1 }) } });
    vi.advanceTimersByTime(1_000);
    measurement.end();
    expect(measurement.report()).toEqual(report);
    expect(ends).toBe(1);
  });

  test("restores the other libraries if one fails to end", () => {
    const broken: LoggerAdapter = {
      kind: "broken",
      attach: () => () => undefined,
      measure: () => () => {
        throw new Error("no");
      },
    };
    const library = new Library();
    const loggers = loggersWith(broken, library);
    loggers.measure().end();
    expect(library.measured).toBe(false);
    expect(() => loggers.measure()).not.toThrow();
  });

  test("runs alone, and the next one starts at zero", () => {
    const library = new Library();
    const loggers = loggersWith(library);
    const first = loggers.measure({ durationMs: 60_000 });
    library.call("a", "INFO");
    expect(() => loggers.measure()).toThrow(
      expect.objectContaining({ code: "RESOURCE_EXHAUSTED", reason: "ALREADY_MEASURING" }),
    );
    expect(library.measured).toBe(true);
    first.end();
    const second = loggers.measure();
    library.call("b", "INFO");
    expect(second.report().loggers.map(({ name }) => name)).toEqual(["b"]);
    expect(first.report().loggers.map(({ name }) => name)).toEqual(["a"]);
    first.end();
    expect(library.measured).toBe(true);
  });

  test.each([0, -1, 300_001, Number.NaN, Number.POSITIVE_INFINITY])("is refused for %d ms", (duration) => {
    const library = new Library();
    const loggers = loggersWith(library);
    expect(() => loggers.measure({ durationMs: duration })).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "INVALID_DURATION" }),
    );
    expect(library.measured).toBe(false);
    loggers.measure({ durationMs: 300_000 }).end();
  });

  test("includes a new library, and releases one that is detached", () => {
    const [first, second] = [new Library("first"), new Library("second")];
    const loggers = new Loggers();
    const detach = loggers.attach(first);
    const measurement = loggers.measure();
    loggers.attach(second);
    for (const library of [first, second]) library.call(library.kind, "INFO");
    detach();
    expect([first.measured, second.measured]).toEqual([false, true]);
    expect(measurement.report().total.suppressed).toEqual(tally({ INFO: 2 }));
    measurement.end();
    expect(second.measured).toBe(false);
  });

  test("ends with the loggers", async () => {
    const library = new Library();
    const loggers = loggersWith(library);
    const measurement = loggers.measure();
    await loggers.close();
    expect([library.measured, measurement.ended]).toEqual([false, true]);
  });

  test("lists 1,000 loggers and counts 10,000 separately; the total has them all", () => {
    const library = new Library();
    const measurement = loggersWith(library).measure();
    for (let index = 0; index < 1_000; index++) library.call(`a${index}`, "INFO");
    expect(measurement.report()).toMatchObject({ more: false, loggers: { length: 1_000 } });
    library.call("busiest", "INFO", 2);
    const report = measurement.report();
    expect(report).toMatchObject({ more: true, loggers: { length: 1_000, 0: { name: "busiest" } } });
    for (let index = 0; index < 10_000; index++) library.call(`b${index}`, "DEBUG", 3);
    expect(measurement.report().total.suppressed).toEqual(tally({ INFO: 1_002, DEBUG: 30_000 }));
    expect(measurement.report().loggers).toHaveLength(1_000);
  });
});
