import { expect, test } from "vitest";
import { BoundedCache } from "../../src/common/bounded-cache.ts";

function countingCache() {
  const computed: string[] = [];
  const cache = new BoundedCache((key: string) => {
    computed.push(key);
    return key === "none" ? undefined : `${key}!`;
  });
  return { cache, computed };
}

test("a value is computed once, also where it is undefined", () => {
  const { cache, computed } = countingCache();
  expect([cache.get("a"), cache.get("a"), cache.get("none"), cache.get("none")]).toEqual([
    "a!",
    "a!",
    undefined,
    undefined,
  ]);
  expect(computed).toEqual(["a", "none"]);
});

test("no more than 256 values are kept", () => {
  const { cache, computed } = countingCache();
  for (let index = 0; index < 256; index++) cache.get(`${index}`);
  cache.get("0");
  expect(computed).toHaveLength(256);
  cache.get("one more");
  cache.get("0");
  expect(computed).toHaveLength(258);
});

test("a key over 512 characters is not kept", () => {
  const { cache, computed } = countingCache();
  for (const length of [512, 512, 513, 513]) cache.get("k".repeat(length));
  expect(computed.map(({ length }) => length)).toEqual([512, 513, 513]);
});
