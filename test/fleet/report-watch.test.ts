import { beforeEach, expect, test, vi } from "vitest";
import { ActuatorError } from "../../src/common/error.ts";
import { ReportWatch } from "../../src/fleet/report-watch.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

test("reports are read once a second for all watchers, and never while there is none", async () => {
  const read = vi.fn(async () => []);
  const watch = new ReportWatch(read);
  const stops = [watch.add(() => {}), watch.add(() => {})];
  await vi.advanceTimersByTimeAsync(2_500);
  expect(read).toHaveBeenCalledTimes(3);
  for (const stop of stops) stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(read).toHaveBeenCalledTimes(3);
});

test("a watch that begins after one which its first event ended is told what there is", async () => {
  const away = new ActuatorError("UNAVAILABLE", "FLEET_ENGINE_UNAVAILABLE", "away");
  const read = vi.fn<() => Promise<never[]>>(() => Promise.reject(away));
  const watch = new ReportWatch(read);
  for (let round = 0; round < 3; round++) {
    const stop = watch.add((seen) => {
      expect(seen).toBe(away);
      stop();
    });
    await vi.advanceTimersByTimeAsync(1_500);
  }
  read.mockImplementation(async () => []);
  const seen: unknown[] = [];
  watch.add((each) => seen.push(each));
  await vi.advanceTimersByTimeAsync(1_500);
  expect(seen).toEqual([[]]);
  watch.close();
});
