import { describe, expect, test } from "vitest";
import { loggerName, parentName } from "../../src/loggers/name.ts";

describe("loggerName", () => {
  test.each([
    ["com.example", "com.example"],
    ["express:router:layer", "express.router.layer"],
    ["lib/db", "lib.db"],
    ["Com.Example", "Com.Example"],
    ["root", "ROOT"],
    ["Root", "ROOT"],
    ["roots", "roots"],
    ["__proto__", "__proto__"],
    ["a$b", "a$b"],
    ["a b+c;d", "a b+c;d"],
    ["€".repeat(170), "€".repeat(170)],
  ])("reads %j as %j", (text, name) => {
    expect(loggerName(text)).toBe(name);
  });

  test.each([
    ["", "empty"],
    ["a\nb", "control character"],
    ["a\u0000", "control character"],
    ["a\u0085", "control character"],
    ["\ud800", "well-formed"],
    ["n".repeat(513), "512 bytes"],
    ["€".repeat(171), "512 bytes"],
  ])("refuses %j", (text, reason) => {
    expect(() => loggerName(text)).toThrow(reason);
    expect(() => loggerName(text)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "INVALID_NAME" }),
    );
  });
});

test.each([
  ["a.b.c", "a.b"],
  ["a.b", "a"],
  ["a", "ROOT"],
  [".a", "ROOT"],
  ["a..b", "a."],
  ["a.", "a"],
  ["root.a", "ROOT"],
  [".", "ROOT"],
])("the parent of %j is %j", (name, parent) => {
  expect(parentName(name)).toBe(parent);
});
