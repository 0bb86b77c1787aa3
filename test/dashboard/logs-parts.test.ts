import { describe, expect, it } from "vitest";
import { levelsBefore, levelWithoutRaise } from "../../src/dashboard/logs/baseline.ts";
import { Lines } from "../../src/dashboard/logs/lines.ts";
import { meets } from "../../src/dashboard/logs/match.ts";
import { isUnknown, nameFault, suggestions } from "../../src/dashboard/logs/names.ts";
import { fieldsOf, isIdentifier, isUser, jsonOf } from "../../src/dashboard/logs/record.ts";
import { conditionText, searchOf, withCondition } from "../../src/dashboard/logs/search.ts";
import { Volume } from "../../src/dashboard/logs/volume.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import type { LogRecord } from "../../src/gen/actuator/v3/logs_pb.ts";

function recordOf(more: Partial<LogRecord>): LogRecord {
  const none = {
    logger: "shop",
    message: "m",
    fieldsJson: "",
    traceId: "",
    spanId: "",
    nodeId: 0,
    node: "",
    kind: "pino",
  };
  const time = { seconds: 1_700_000_000n, nanos: 5e6 };
  return { ...none, level: Level.INFO, nativeLevel: "info", onlyHere: false, cut: false, time, ...more } as LogRecord;
}

describe("the lines of a tail", () => {
  it("keeps the latest, and says how many records have gone", () => {
    const lines = new Lines(100);
    for (let at = 0; at < 500; at++) lines.add({ record: recordOf({ message: String(at) }) });
    const kept = lines.snapshot().flatMap((chunk) => chunk.lines);
    expect(kept.at(-1)?.record?.message).toBe("499");
    expect(kept.length).toBeLessThanOrEqual(150);
    expect(lines.gone + kept.length).toBe(500);
  });

  it("leaves full chunks and earlier snapshots as they are", () => {
    const lines = new Lines(1_000);
    for (let at = 0; at < 30; at++) lines.add({ notice: { icon: "", isWarning: false, text: String(at) } });
    const before = lines.snapshot();
    lines.add({ notice: { icon: "", isWarning: false, text: "new" } });
    const after = lines.snapshot();
    expect(after[0]).toBe(before[0]);
    expect(before[1]?.lines).toHaveLength(5);
    expect(after[1]?.lines).toHaveLength(6);
    expect(after[1]?.id).toBe(before[1]?.id);
  });
});

describe("other conditions", () => {
  const groups = new Map([["money", { members: ["shop.orders.*"] }]]);
  const record = recordOf({
    logger: "shop.orders.payment",
    message: "Charge failed",
    fieldsJson: '{"order":88231,"user":{"name":"bob"},"a.b":"c","none":null}',
  });

  it("keep what the server would have sent", () => {
    for (const conditions of [
      { names: [] },
      { names: ["shop.*"], level: Level.INFO, contains: "CHARGE" },
      { names: ["other", "money"], fields: { order: "88231", "user.name": "bob", "a.b": "c", none: "null" } },
      { names: ["shop.orders.payment"], contains: "88231" },
    ]) {
      expect(meets(record, conditions, groups), JSON.stringify(conditions)).toBe(true);
    }
    for (const conditions of [
      { names: ["shop.orders"] },
      { names: [], level: Level.WARN },
      { names: [], contains: "refund" },
      { names: [], fields: { "none.x": "1" } },
      { names: [], fields: { order: "8823" } },
    ]) {
      expect(meets(record, conditions, groups), JSON.stringify(conditions)).toBe(false);
    }
  });

  it("leave the others out of the lines, and the notices in", () => {
    const lines = new Lines(100);
    for (let at = 0; at < 60; at++) lines.add({ record: recordOf({ message: `${at % 2}` }) });
    lines.add({ notice: { icon: "", isWarning: false, text: "n" } });
    lines.keep(({ message }) => message === "1");
    const kept = lines.snapshot().flatMap((chunk) => chunk.lines);
    expect(kept).toHaveLength(31);
    expect(kept.at(-1)?.notice).toBeDefined();
    expect(new Set(kept.map(({ id }) => id)).size).toBe(31);
  });
});

describe("the volume", () => {
  const now = 1_700_000_000_000;

  it("tells what a raise added from what was written anyway", () => {
    const volume = new Volume();
    for (let at = 0; at < 10; at++) volume.add(Level.DEBUG, at < 4, now - 1_000, now);
    volume.add(Level.FATAL, false, now - 1_000, now);
    expect(volume.bars(now).at(-1)).toEqual({ error: 1, warn: 0, added: 4, rest: 6 });
    expect(volume.rate(now, Level.DEBUG)).toBe(1);
    expect(volume.rate(now)).toBeCloseTo(1.1);
  });

  it("forgets after five minutes, and takes times of other clocks for the present", () => {
    const volume = new Volume();
    volume.add(Level.INFO, false, now + 60_000, now);
    expect(volume.bars(now).at(-1)?.rest).toBe(1);
    expect(volume.bars(now + 299_000).some(({ rest }) => rest === 1)).toBe(true);
    expect(volume.bars(now + 301_000).every(({ rest }) => rest === 0)).toBe(true);
  });
});

describe("a search", () => {
  it("reads conditions and text", () => {
    expect(searchOf("charge order=88231 failed")).toEqual({ contains: "charge failed", fields: { order: "88231" } });
    expect(searchOf('user.name="a \\"b\\""')).toEqual({ contains: "", fields: { "user.name": 'a "b"' } });
    expect(searchOf("a = b http://x?y=z")).toEqual({ contains: "a = b http://x?y=z", fields: {} });
  });

  it("writes what it reads", () => {
    for (const value of ["1", "a b", 'say "hi"', "back\\slash", "=", "", "é ‮"]) {
      expect(searchOf(conditionText("k", value)), value).toEqual({ contains: "", fields: { k: value } });
    }
    expect(withCondition("charge order=1", "order", "2")).toBe("charge order=2");
  });
});

describe("the names to show", () => {
  const known = {
    isLoaded: true,
    loggers: new Map(["shop", "shop.orders", "shop.orders.payment", "knex.query"].map((name) => [name, 1])),
    groups: new Map([["money", 1]]),
  };

  it("accepts what the server knows, and says what to write instead", () => {
    for (const name of ["shop", "shop.*", "money", "@scope/x"]) expect(nameFault(name)).toBeUndefined();
    expect(nameFault("shop.**")).toContain("shop.*");
    expect(nameFault("*.orders")).toContain("leave this empty");
    expect(isUnknown("shop.orders.*", known)).toBe(false);
    expect(isUnknown("shop.orders.payment.*", known)).toBe(true);
    expect(isUnknown("money", known)).toBe(false);
  });

  it("suggests branches and loggers", () => {
    expect(suggestions("sh", known, 9)).toEqual(["shop", "shop.*"]);
    expect(suggestions("shop.o", known, 9)).toEqual(["shop.orders", "shop.orders.*"]);
    expect(suggestions("m", known, 9)).toEqual(["money"]);
  });
});

describe("a record", () => {
  it("has its fields by their paths, as the server finds them", () => {
    const fields = {
      pid: 1,
      hostname: "h",
      name: "shop",
      user: { name: "bob", token: "[redacted]" },
      list: [1, { a: 2 }],
    };
    expect(fieldsOf(recordOf({ fieldsJson: JSON.stringify(fields) }))).toEqual([
      ["user.name", "bob"],
      ["user.token", "[redacted]"],
      ["list", [1, { a: 2 }]],
    ]);
    expect(fieldsOf(recordOf({ fieldsJson: '{"a":' }))).toEqual([["fields", '{"a":']]);
    const deep = "[".repeat(5_000) + "]".repeat(5_000);
    expect(fieldsOf(recordOf({ fieldsJson: `{"deep":${deep}}` }))).toHaveLength(1);
  });

  it("names users and things, but not secrets or measures", () => {
    expect(isUser(["user.name", "bob"])).toBe(true);
    expect(isUser(["customer", "[redacted]"])).toBe(false);
    expect(isIdentifier(["order", 88231])).toBe(true);
    expect(isIdentifier(["orderId", "a"])).toBe(true);
    expect(isIdentifier(["ms", 12])).toBe(false);
  });

  it("becomes one line of JSON", () => {
    const line = jsonOf(recordOf({ message: "a\nb\u001b[31m", fieldsJson: '{"a":1}' }));
    expect(line).not.toContain("\n");
    expect(JSON.parse(line)).toMatchObject({ level: "INFO", logger: "shop", fields: { a: 1 }, kind: "pino" });
  });
});

describe("what a raise added", () => {
  const level = (configuredLevel: Level, effectiveLevel: Level) => ({ configuredLevel, effectiveLevel });
  const known = {
    loggers: new Map([
      ["ROOT", level(Level.INFO, Level.INFO)],
      ["shop", level(Level.UNSPECIFIED, Level.INFO)],
      ["shop.web", level(Level.WARN, Level.WARN)],
    ]),
    groups: new Map([["all", { members: ["shop.*", "shop.web"] }]]),
  };

  it("is above the level that was in effect before", () => {
    const before = levelsBefore(["all"], known);
    expect([...before]).toEqual([
      ["shop", Level.INFO],
      ["shop.web", Level.WARN],
    ]);
    expect(levelWithoutRaise("shop.orders.late", before, known)).toBe(Level.INFO);
    expect(levelWithoutRaise("shop.web.x", before, known)).toBe(Level.WARN);
    expect([...levelsBefore([], known)]).toEqual([["ROOT", Level.INFO]]);
  });

  it("is not what a logger with a level of its own writes", () => {
    expect(levelWithoutRaise("shop.web", levelsBefore(["shop"], known), known)).toBeUndefined();
  });
});
