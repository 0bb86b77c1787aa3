import { expect, test } from "vitest";
import { bestNames } from "../../src/dashboard/shell/finding.ts";

test("names of which a part begins with the text come first, short ones before long ones", () => {
  const names = ["shop.prepay", "shop.orders.payment.webhook", "shop.orders.payment", "pay", "http", "jobs:payroll"];
  expect(bestNames(names, "Pay", 8)).toEqual([
    "pay",
    "jobs:payroll",
    "shop.orders.payment",
    "shop.orders.payment.webhook",
    "shop.prepay",
  ]);
});

test("only the best are kept", () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `shop.module${index % 100}.worker${index}`);
  expect(bestNames([...names, "a.work"], "work", 3)).toEqual([
    "a.work",
    "shop.module0.worker0",
    "shop.module1.worker1",
  ]);
});

test("a text that is nowhere finds nothing", () => {
  expect(bestNames(["shop", "http"], "zebra", 8)).toEqual([]);
});
