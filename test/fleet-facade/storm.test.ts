// @module-tag slow
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { fleetLoggers } from "../../src/fleet-facade/index.ts";
import { createActuator, type Level } from "../../src/index.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { startApplication } from "./instance.ts";

const NAMES = ["orders", "orders.payment", "stock", "made.later"];
const LEVELS = ["DEBUG", "WARN", "ERROR", "FATAL", "TRACE"] as const;
const NATIVE: Readonly<Record<string, string>> = { OFF: "silent" };

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test("whatever comes between, every instance ends up with what was set last", { timeout: 180_000 }, async () => {
  // The same every time, so that a change is judged by what it did.
  const seed = Number(process.env.FLEET_STORM_SEED ?? 1);
  console.log(`FLEET_STORM_SEED=${seed} repeats this run`);
  const random = randomFrom(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const applications = await Promise.all([1, 2, 3].map(() => startApplication({ heartbeatMs: 200 })));
  const fleet = fleetLoggers({
    instances: applications.map(({ url }) => url),
    maxReconnectMs: 100,
    silenceMs: 1_500,
  });
  const sidecar = createActuator({ loggers: { logLevelChanges: false, adapters: [fleet] } });
  fleet.follow(sidecar.loggers!);
  onTestFinished(async () => {
    await sidecar.close({ deadlineMs: 0 });
    await fleet.close();
  });
  await vi.waitFor(() => expect((sidecar.loggers!.get("stock") as Logger)?.kind).toBe("fleet"), { timeout: 30_000 });

  const last = new Map<string, Level | undefined>();
  const stopped = new Set<(typeof applications)[number]>();
  const acts: readonly (() => Promise<unknown> | unknown)[] = [
    ...Array.from({ length: 6 }, () => () => {
      const [name, level] = [one(NAMES), one(LEVELS)];
      last.set(name, level);
      sidecar.loggers!.setLevel(name, level);
    }),
    ...Array.from({ length: 2 }, () => () => {
      const name = one(NAMES);
      last.set(name, undefined);
      sidecar.loggers!.setLevel(name, undefined);
    }),
    () => delay(random() * 100),
    async () => {
      const application = one(applications);
      stopped.delete(application);
      await application.restart();
    },
    () => {
      const application = one(applications);
      application.signal("SIGSTOP");
      stopped.add(application);
    },
    () => {
      for (const application of stopped) application.signal("SIGCONT");
      stopped.clear();
    },
  ];
  for (let step = 0; step < 150; step++) await one(acts)();
  for (const application of stopped) application.signal("SIGCONT");

  const native = (name: string): string => {
    const level = last.get(name) ?? (name.includes(".") ? last.get(name.slice(0, name.lastIndexOf("."))) : undefined);
    return level === undefined ? "info" : (NATIVE[level] ?? level.toLowerCase());
  };
  const expected = Object.fromEntries(NAMES.slice(0, 3).map((name) => [name, native(name)]));
  await vi.waitFor(
    async () => {
      for (const application of applications) expect(await application.levels()).toMatchObject(expected);
      for (const name of ["ROOT", ...NAMES]) {
        expect((sidecar.loggers!.get(name) as Logger | undefined)?.warnings ?? []).toEqual([]);
      }
    },
    { timeout: 90_000, interval: 50 },
  );
  for (const name of NAMES) {
    expect((sidecar.loggers!.get(name) as Logger | undefined)?.configuredLevel).toBe(last.get(name));
  }
});
