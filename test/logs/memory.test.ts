import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test, vi } from "vitest";
import { Loggers } from "../../src/loggers/loggers.ts";
import { Logs } from "../../src/logs/logs.ts";
import type { TailEvent } from "../../src/logs/query.ts";
import type { Tail } from "../../src/logs/tail.ts";
import { WrittenLibrary } from "./written-library.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function logsOf() {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "Date", "performance"] });
  const loggers = new Loggers();
  const library = new WrittenLibrary(["orders"]);
  library.written.push = () => 0;
  loggers.attach(library);
  const logs = new Logs(loggers);
  onTestFinished(async () => {
    logs.close();
    await loggers.close();
    vi.useRealTimers();
  });
  return { logs, library };
}

function heapMiB(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Writes records of this size, of texts of their own. */
function flood(library: WrittenLibrary, count: number, size: number, isDrained = true): void {
  for (let at = 0; at < count; at++) {
    const text = Buffer.alloc(size, `${at} `).toString("latin1");
    library.write("orders", "INFO", text, {}, size);
    if (isDrained && at % 50 === 49) vi.advanceTimersByTime(50);
  }
  if (isDrained) vi.advanceTimersByTime(50);
}

function eventsOf(tail: Tail): TailEvent[] {
  const events: TailEvent[] = [];
  for (let event = tail.take(); event !== undefined; event = tail.take()) events.push(event);
  return events;
}

test("tails that are not read keep no more than a ring, and are told what they missed", () => {
  const { logs, library } = logsOf();
  const tails = Array.from({ length: 100 }, () => logs.open({ maxPerSecond: 100_000 }));
  flood(library, 100, 10_000);
  const before = heapMiB();
  flood(library, 6_000, 10_000);
  // 60 MB were written. One ring has 4 MiB, and all these tails share it.
  expect(heapMiB() - before).toBeLessThan(12);
  for (const tail of tails) {
    const [dropped, ...batches] = eventsOf(tail);
    const records = batches.flatMap((event) => (event.type === "records" ? event.records : []));
    expect(dropped).toEqual({ type: "dropped", reason: "SLOW_READER", count: 6_100 - records.length });
    expect(records.length).toBeGreaterThan(100);
    expect(records.at(-1)!.sequence).toBe(6_100);
  }
});

test("tails with conditions of their own keep no more than 32 MiB together", () => {
  const { logs, library } = logsOf();
  for (let tail = 0; tail < 100; tail++) logs.open({ maxPerSecond: 100_000 - tail });
  flood(library, 100, 10_000);
  const before = heapMiB();
  flood(library, 6_000, 10_000);
  expect(heapMiB() - before).toBeLessThan(40);
});

test("a flood within one interval keeps no more than a ring", () => {
  const { logs, library } = logsOf();
  const tail = logs.open({ maxPerSecond: 100_000 });
  const before = heapMiB();
  flood(library, 6_000, 10_000, false);
  expect(heapMiB() - before).toBeLessThan(12);
  vi.advanceTimersByTime(50);
  let [kept, dropped] = [0, 0];
  for (const event of eventsOf(tail)) {
    if (event.type === "records") kept += event.records.length;
    else if (event.type === "dropped") dropped += event.count!;
  }
  expect(kept).toBeGreaterThan(100);
  expect(kept + dropped).toBe(6_000);
});

test("after the last tail has ended, nothing is kept", () => {
  const { logs, library } = logsOf();
  const before = heapMiB();
  (() => {
    const tail = logs.open({ maxPerSecond: 100_000 });
    flood(library, 1_000, 10_000);
    tail.close();
  })();
  vi.advanceTimersByTime(10_000);
  expect(heapMiB() - before).toBeLessThan(2);
  expect([library.isHeard, vi.getTimerCount()]).toEqual([false, 0]);
});
