import { expect, test } from "vitest";
import type { CallGate, LoggerAdapter } from "../../src/loggers/adapter.ts";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";

const broken: LoggerAdapter = {
  kind: "broken",
  attach: () => () => undefined,
  gate: () => {
    throw new Error("no gate");
  },
};

test("refuses an invalid level or name, and does not run the function", () => {
  const loggers = new Loggers();
  let ran = 0;
  const run = () => ran++;
  expect(() => loggers.withLevel("LOUD" as Level, run)).toThrow(expect.objectContaining({ reason: "INVALID_LEVEL" }));
  expect(() => loggers.withLevel("DEBUG", run, { logger: "" })).toThrow(
    expect.objectContaining({ reason: "INVALID_NAME" }),
  );
  expect(ran).toBe(0);
});

test("runs the function if a library cannot do it or throws, which ROOT shows", () => {
  const loggers = new Loggers();
  loggers.attach({ kind: "plain", attach: () => () => undefined });
  loggers.attach(broken);
  expect(loggers.withLevel("DEBUG", () => 1)).toBe(1);
  expect((loggers.get("ROOT") as { warnings: readonly string[] }).warnings.join()).toMatch(/^broken .*no gate/);
});

test("asks a library for its gate once, however many functions run", async () => {
  const loggers = new Loggers();
  const gates: CallGate[] = [];
  let taken = 0;
  loggers.attach({
    kind: "counted",
    attach: () => () => undefined,
    gate: (lets) => {
      gates.push(lets);
      return () => taken++;
    },
  });
  await Promise.all([1, 2, 3].map((value) => loggers.withLevel("DEBUG", async () => value)));
  loggers.withLevel("TRACE", () => undefined);
  expect([gates.length, taken]).toEqual([1, 0]);
  await loggers.close();
  expect([gates.length, taken]).toEqual([1, 1]);
});

test("an unhandled rejection is still reported as such", async () => {
  const loggers = new Loggers();
  const inner = Promise.reject(new Error("inner"));
  const outer = loggers.withLevel("DEBUG", () => inner);
  expect(outer).not.toBe(inner);
  await expect(outer).rejects.toThrow("inner");
});
