import { expect, test } from "vitest";
import { checksOf, comparison, healthTitle, uptime } from "../../src/dashboard/overview/summary.ts";

const UP = { name: "bank", status: "UP" };
const DOWN = { name: "mail", status: "DOWN" };

test("the health is one line", () => {
  expect(healthTitle("UP", [UP])).toBe("Up");
  expect(healthTitle("DOWN", [UP, DOWN])).toBe("Down: 1 of 2 checks fails");
  expect(healthTitle("DOWN", [DOWN, DOWN])).toBe("Down: 2 of 2 checks fail");
  expect(checksOf([{ name: "drain", status: "UP" }, UP])).toEqual([UP]);
  expect(checksOf([{ name: "drain", status: "OUT_OF_SERVICE" }])).toHaveLength(1);
});

test.each([
  [1_500, "1,180 fewer than 12 min ago"],
  [2_680, "as many as 12 min ago"],
  [2_681, "1 more than 12 min ago"],
])("%d is compared with the oldest sample", (value, expected) => {
  expect(comparison(value, [{ at: 0, value: 2_680 }], 720_000)).toBe(expected);
  expect(comparison(value, [{ at: 0, value: 2_680 }], 59_000)).toBe("");
});

test.each([
  [6 * 86_400_000 + 4 * 3_600_000, "6 d 4 h"],
  [2 * 3_600_000 + 5 * 60_000, "2 h 5 min"],
  [58_000, "58 s"],
])("%d ms up are %s", (ms, expected) => expect(uptime(ms)).toBe(expected));
