import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { snapshotOf } from "../../../../src/adapters/kit/loggers/snapshot.ts";

test("copies what JSON writes", () => {
  const same = (value: unknown) => {
    expect(JSON.stringify(snapshotOf(value).data)).toBe(JSON.stringify(value));
  };
  fc.assert(fc.property(fc.object({ maxDepth: 4, withDate: true }), same));
  const moment = new Date(0);
  const value = { moment, list: [undefined, Number.NaN, () => {}], left: undefined, fun() {}, map: new Map([[1, 2]]) };
  same(value);
});

test("does not show later changes", () => {
  const value = { list: [{ a: 1 }], text: "x" };
  const { data } = snapshotOf(value);
  value.list[0]!.a = 2;
  value.text = "y";
  expect(data).toEqual({ list: [{ a: 1 }], text: "x" });
});

test("shows errors with type, message, stack, cause and fields", () => {
  const cause = new TypeError("because");
  const error = Object.assign(new RangeError("failed", { cause }), { code: "E1", stack: "the stack" });
  expect(snapshotOf({ error }).data).toEqual({
    error: {
      type: "RangeError",
      message: "failed",
      stack: "the stack",
      cause: { type: "TypeError", message: "because", stack: cause.stack },
      code: "E1",
    },
  });
  const foreign = runInNewContext("new SyntaxError('elsewhere')") as Error;
  expect(snapshotOf(foreign).data).toMatchObject({ type: "SyntaxError", message: "elsewhere" });
});

test("survives what JSON does not", () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle.self = circle;
  const fails = () => {
    throw new Error("no");
  };
  const value = {
    circle,
    big: 12n,
    getter: Object.defineProperty({ b: 2 }, "fails", { get: fails, enumerable: true }),
    toJSON: { toJSON: fails },
    proxy: new Proxy({}, { ownKeys: fails, get: fails }),
    itself: {
      c: 3,
      toJSON() {
        return this;
      },
    },
    binary: Buffer.alloc(5),
    message: Object.defineProperty(new Error("x"), "message", { get: fails }),
    same: [circle.a, { twice: value0 }, { twice: value0 }],
    ["__proto__"]: 1,
  };
  expect(snapshotOf(value).data).toMatchObject({
    circle: { a: 1, self: "[circular]" },
    big: "12",
    getter: { b: 2, fails: "[cannot be read]" },
    toJSON: "[cannot be read]",
    proxy: "[cannot be read]",
    itself: { c: 3 },
    binary: "[5 bytes]",
    message: "[cannot be read]",
    same: [1, { twice: { d: 4 } }, { twice: { d: 4 } }],
  });
});
const value0 = { d: 4 };

test("is bounded, however large or deep the value is", () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, "x".repeat(50)]));
  const shared = Array.from({ length: 1_000 }, () => wide);
  const { data, size } = snapshotOf({ shared });
  expect(size).toBeLessThan(200_000);
  expect(JSON.stringify(data).length).toBeLessThan(300_000);
  let deep: unknown = "end";
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  expect(JSON.stringify(snapshotOf(deep).data)).toContain("[cut]");
  const endless = { toJSON: (): object => ({ toJSON: endless.toJSON }) };
  expect(snapshotOf(endless).data).toBe("[cut]");
});
