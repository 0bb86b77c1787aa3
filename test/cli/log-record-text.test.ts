import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { recordJson, recordText } from "../../src/cli/log-record-text.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LogRecordSchema } from "../../src/gen/actuator/v3/logs_pb.ts";

const TIME = new Date(2026, 9, 1, 14, 32, 10, 7).getTime();

const record = (more: MessageInitShape<typeof LogRecordSchema> = {}) =>
  create(LogRecordSchema, {
    time: timestampFromMs(TIME),
    logger: "orders.payment",
    level: Level.WARN,
    nativeLevel: "warn",
    message: "card declined",
    kind: "pino",
    ...more,
  });

const text = (more: MessageInitShape<typeof LogRecordSchema>, instance?: string) => recordText(record(more), instance);

const json = (more: MessageInitShape<typeof LogRecordSchema>, instance?: string) => {
  const line = recordJson(record(more), instance);
  expect(line).toMatch(/^[^\n]+\n$/);
  return JSON.parse(line);
};

describe("a record as text", () => {
  test("is a line with time, level, logger and message", () => {
    expect(text({})).toBe("14:32:10.007 WARN  orders.payment: card declined\n");
    expect(text({ level: Level.DEBUG }, "4711")).toBe("4711 14:32:10.007 DEBUG orders.payment: card declined\n");
  });

  test("has a line for each field, the error with its stack, and the node", () => {
    const fieldsJson = JSON.stringify({
      order: { id: 4711, tags: ["a"] },
      name: "orders.payment",
      user: "alice",
      sql: "select 1\n  from t",
    });
    const error = {
      type: "TypeError",
      message: "no card",
      stack: "TypeError: no card\n    at pay (pay.js:1:2)\n    at main.js:3:4\n",
    };
    expect(text({ fieldsJson, error, node: "payment", traceId: "4bf9", spanId: "00f0" })).toBe(`\
14:32:10.007 WARN  orders.payment: card declined → payment
    order: {"id":4711,"tags":["a"]}
    user: alice
    sql: select 1
        from t
    trace: 4bf9 00f0
    TypeError: no card
        at pay (pay.js:1:2)
        at main.js:3:4
`);
  });

  test.each([
    [{ type: "TypeError", message: "no card", stack: "" }, "    TypeError: no card\n"],
    [{ type: "", message: "no card", stack: "" }, "    Error: no card\n"],
    [{ type: "TypeError", message: "no card", stack: "    at x\n" }, "    TypeError: no card\n        at x\n"],
  ])("has what is known of an error: %j", (error, lines) => {
    expect(text({ error })).toBe(`14:32:10.007 WARN  orders.payment: card declined\n${lines}`);
  });

  test("indents further lines, so that none looks like a record", () => {
    const forged = "x\n14:32:10.007 INFO  orders: all is well";
    const lines = text({
      message: forged,
      fieldsJson: JSON.stringify({ [forged]: forged }),
      error: { type: forged, message: forged, stack: forged },
      node: forged,
      traceId: forged,
      logger: forged,
    }).split("\n");
    expect(lines.filter((line) => /^\S/.test(line))).toHaveLength(1);
  });

  test.each(["\x1b[2J", "\x1b]0;x\x07", "\r", "\b", "\u202e", "\u0085", "\u2028", "\x9b1m"])(
    "shows the control character of %j",
    (control) => {
      const hostile = `a${control}b`;
      const shown = text(
        {
          message: hostile,
          logger: `${hostile}.`,
          node: hostile,
          traceId: hostile,
          spanId: hostile,
          fieldsJson: JSON.stringify({ [hostile]: hostile, deep: { [hostile]: [hostile] } }),
          error: { type: hostile, message: hostile, stack: `${hostile}\n    at ${hostile}` },
        },
        hostile,
      );
      expect(shown).not.toMatch(/[^\n\P{C}]|[\p{Zl}\p{Zp}]/u);
      expect(shown.match(/\\u[0-9a-f]{4}/g)!.length).toBeGreaterThanOrEqual(8);
    },
  );

  test("says that it was cut", () => {
    expect(text({ cut: true })).toMatch(/ card declined\n {4}\(cut: it was longer than 64 KiB\)\n$/);
  });
});

describe("a record as JSON", () => {
  test("has what there is", () => {
    expect(json({})).toEqual({
      time: new Date(TIME).toISOString(),
      level: "WARN",
      logger: "orders.payment",
      message: "card declined",
      nativeLevel: "warn",
      kind: "pino",
    });
  });

  test("has everything", () => {
    const error = { type: "TypeError", message: "no card", stack: "" };
    const fieldsJson = '{"order":{"id":4711}}';
    const more = {
      fieldsJson,
      error,
      traceId: "4bf9",
      spanId: "00f0",
      node: "pay",
      nodeId: 3,
      onlyHere: true,
      cut: true,
    };
    expect(json(more, "4711")).toMatchObject({
      instance: "4711",
      fields: { order: { id: 4711 } },
      error: { type: "TypeError", message: "no card" },
      traceId: "4bf9",
      spanId: "00f0",
      node: "pay",
      nodeId: 3,
      onlyHere: true,
      cut: true,
    });
  });

  test("is one line without control characters, whatever it says", () => {
    const hostile = "a\x1b[2J\n\u2028\u202e";
    const line = recordJson(record({ message: hostile, fieldsJson: JSON.stringify({ hostile }) }), undefined);
    expect(line.slice(0, -1)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(line)).toMatchObject({ message: hostile, fields: { hostile } });
    expect(json({ fieldsJson: "{broken" }).fields).toEqual({ fields: "{broken" });
  });
});
