import { expect, test } from "vitest";
import { levelChangeLine } from "../../src/loggers/change-log.ts";
import { Loggers } from "../../src/loggers/loggers.ts";

test("a change is one line that says what, who, why and until when", () => {
  const loggers = new Loggers({ instance: "i" });
  const reason = "two\u2028lines, \u202eodd ends";
  loggers.setLevel("a\u2028b", "DEBUG", { actor: "ann", reason, ttlMs: 60_000 });
  const [change] = loggers.history({ limit: 1 });
  const line = levelChangeLine(change!);
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(line)).toEqual({
    level: "info",
    time: new Date(change!.time).toISOString(),
    name: "connect-actuator",
    msg: "level of a logger changed",
    logger: "a\u2028b",
    previousLevel: null,
    newLevel: "DEBUG",
    kind: "SET",
    actor: "ann",
    reason,
    instance: "i",
    until: new Date(change!.override!.expireTime!).toISOString(),
    revision: change!.revision,
  });
});
