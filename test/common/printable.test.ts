import { expect, test } from "vitest";
import { printable, printableJson } from "../../src/common/printable.ts";

test.each([
  ["plain ünïcödé 🙂", "plain ünïcödé 🙂"],
  ["\x1b[31mred", "\\u001b[31mred"],
  ["two\nlines\ttab", "two\\u000alines\\u0009tab"],
  ["\x9b1m\x7f", "\\u009b1m\\u007f"],
  ["\u202egnp.exe", "\\u202egnp.exe"],
  ["\ud800", "\\ud800"],
])("%j is printed as %j", (text, printed) => expect(printable(text)).toBe(printed));

test("JSON is printed without anything that a terminal obeys, and stays the same JSON", () => {
  const value = { text: "a\x1b\x9b\u202e\u2028\n\ud800🙂" };
  const printed = printableJson(value, 2);
  expect(printed).toMatch(/^[\n -~🙂]+$/u);
  expect(JSON.parse(printed)).toEqual(value);
});
