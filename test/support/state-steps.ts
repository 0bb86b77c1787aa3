import { LEVELS } from "../../src/loggers/level.ts";
import type { Loggers } from "../../src/loggers/loggers.ts";

const HOUR = 3_600_000;

/** One whose members fill a file of some size, and two that share a prefix. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  wide: Array.from({ length: 200 }, (_, index) => `wide.${index}`),
  below: ["a.*"],
  mixed: ["a.*", "b", "a.x"],
};

const NAMES = ["wide", "wide.7", "below", "mixed", "a", "a.x", "a.y", "a.y.z", "b", "ROOT"];

/** The logger that says how many steps were made. */
export const MARKER = "marker";

/** Numbers from 0 to below 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let at = seed >>> 0;
  return () => {
    at = (at + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(at ^ (at >>> 15), at | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The step of this number: several changes in one turn of the event loop, the same ones in whatever process they are made. */
export function takeStep(loggers: Loggers, seed: number, number: number): void {
  const random = randomFrom(seed * 1_000_003 + number);
  const among = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const change = (which: string) => {
    const reason = `#${number} ${which} ${"x".repeat(100)}`;
    const name = among(NAMES);
    const level = among(LEVELS);
    const kind = random();
    if (kind < 0.02) loggers.restoreAllLevels({ reason });
    else if (kind < 0.2) loggers.setLevel(name, undefined, { reason });
    else if (kind < 0.5) loggers.setLevel(name, level, { reason, ttlMs: HOUR });
    else loggers.setLevel(name, level, { reason });
  };
  change("first");
  loggers.setLevel(MARKER, "INFO", { reason: `${number}` });
  change("second");
  loggers.setLevel(MARKER, "INFO", { reason: `${number}` });
}
