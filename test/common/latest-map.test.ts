import { expect, test } from "vitest";
import { LatestMap } from "../../src/common/latest-map.ts";

test("keeps what was set last", () => {
  const map = new LatestMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  expect(["a", "b", "c"].map((key) => map.get(key))).toEqual([3, undefined, 4]);
});
