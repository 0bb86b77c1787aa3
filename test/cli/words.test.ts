import { describe, expect, test } from "vitest";
import { baseUrlOf } from "../../src/cli/connection.ts";
import { CliError } from "../../src/cli/error.ts";
import { nameFilter } from "../../src/cli/name-filter.ts";
import { durationFromText, durationToText } from "../../src/common/duration.ts";

describe("a duration that is typed", () => {
  test.each([
    ["90s", 90_000],
    ["10m", 600_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["1h30m", 5_400_000],
    ["1d2h3m4s5ms", 93_784_005],
    ["500ms", 500],
    ["0s", 0],
  ])("%s is %i ms", (text, milliseconds) => expect(durationFromText(text)).toBe(milliseconds));

  test.each(["", "10", "m", "10 m", "-1m", "1.5h", "10M", "30m1h", "1m1m", "5x", "99999999999999d"])(
    "%j is none",
    (text) => {
      expect(durationFromText(text)).toBeUndefined();
    },
  );

  test.each([
    [0, "0s"],
    [-5, "0s"],
    [500, "500ms"],
    [59_999, "59s"],
    [600_000, "10m"],
    [598_000, "9m 58s"],
    [3_605_000, "1h"],
    [100_800_000, "1d 4h"],
  ])("%i ms is shown as %s", (milliseconds, text) => expect(durationToText(milliseconds)).toBe(text));
});

describe("a filter of names", () => {
  const names = [
    "ROOT",
    "orders",
    "orders-archive",
    "orders.payment",
    "orders.payment.cards",
    "refunds",
    "stock.payment",
    "a+b",
  ];
  test.each([
    [[], names],
    [["orders"], ["orders", "orders-archive", "orders.payment", "orders.payment.cards"]],
    [["orders."], ["orders.payment", "orders.payment.cards"]],
    [["orders:payment"], ["orders.payment", "orders.payment.cards"]],
    [["orders.*"], ["orders.payment"]],
    [["orders.**"], ["orders.payment", "orders.payment.cards"]],
    [["*"], ["ROOT", "orders", "orders-archive", "refunds", "a+b"]],
    [["**.payment"], ["orders.payment", "stock.payment"]],
    [["*.payment.*"], ["orders.payment.cards"]],
    [["re?unds"], ["refunds"]],
    [["orders?payment"], []],
    [["root"], ["ROOT"]],
    [["a+b"], ["a+b"]],
    [["(*"], []],
    [
      ["refunds", "stock.*"],
      ["refunds", "stock.payment"],
    ],
  ])("%j passes %j", (filters, passing) => {
    const { prefix, passes } = nameFilter(filters);
    expect(names.filter(passes)).toEqual(passing);
    expect(passing.filter((name) => !name.startsWith(prefix))).toEqual([]);
  });

  test.each([
    [["orders.*", "orders.payment"], "orders."],
    [["orders", "refunds"], ""],
    [["orders.payment"], "orders.payment"],
  ])("%j lets the server leave out what does not begin with %j", (filters, prefix) => {
    expect(nameFilter(filters).prefix).toBe(prefix);
  });
});

describe("an address", () => {
  test.each([
    ["http://127.0.0.1:9001", "http://127.0.0.1:9001"],
    ["http://127.0.0.1:9001/", "http://127.0.0.1:9001"],
    ["127.0.0.1:9001", "http://127.0.0.1:9001"],
    ["localhost:9001", "http://localhost:9001"],
    ["[::1]:9001", "http://[::1]:9001"],
    ["https://shop.example/manage/", "https://shop.example/manage"],
  ])("%s is %s", (text, url) => expect(baseUrlOf(text)).toBe(url));

  test.each(["", "ftp://x", "http://", "http://user:secret@x", "http://x?token=secret", "http://x/#secret", "a b"])(
    "%j is none, and is not repeated",
    (text) => {
      const attempt = () => baseUrlOf(text);
      expect(attempt).toThrow(CliError);
      expect(attempt).toThrow(/--url takes (an|no)/);
      expect(attempt).not.toThrow(/secret/);
    },
  );
});
