import { expect, test } from "vitest";
import { didYouMean, nearest, similar } from "../../src/common/suggestion.ts";

test.each([
  ["oders", ["orders"]],
  ["orders.paymnt", ["orders.payment"]],
  ["ORDERS", ["orders"]],
  ["refund", ["refunds"]],
  ["quite another", []],
  ["x", []],
])("%s is like %j", (word, names) => {
  expect(similar(word, ["orders", "orders.payment", "refunds"])).toEqual(names);
});

test.each([
  ["sourceTimout", "sourceTimeoutMs"],
  ["maxConnection", "maxConnections"],
  ["ttl", "defaultTtlMs"],
  ["colour", undefined],
])("the option nearest to %s is %s", (name, option) => {
  expect(nearest(name, ["maxConnections", "sourceTimeoutMs", "defaultTtlMs"])).toBe(option);
});

test("a message suggests the nearest name, or lists the known ones", () => {
  expect(didYouMean("idkey", ["ids", "idKey"])).toBe('did you mean "idKey"?');
  expect(didYouMean("colour", ["ids", "idKey"])).toBe("known options: ids, idKey");
});
