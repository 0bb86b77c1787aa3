import { expect, test } from "vitest";
import { ByTag } from "../../../../src/adapters/graph/amqplib/by-tag.ts";

test("values are found by their tags, few or many, settled in order or not", () => {
  const byTag = new ByTag<string>();
  const expected = new Map<number, string>();
  const take = (tag: number) => {
    expect(byTag.take(tag)).toBe(expected.get(tag));
    expected.delete(tag);
  };
  for (let tag = 1; tag <= 2_000; tag++) {
    byTag.set(tag, `message ${tag}`);
    expected.set(tag, `message ${tag}`);
    // Some stay open for long, some are settled late, most soon.
    if (tag % 7 !== 0) take(tag);
    if (tag % 14 === 0 && tag > 700) take(tag - 700);
    if (tag % 100 === 0) {
      expect(byTag.tags).toEqual([...expected.keys()]);
      expect(byTag.size).toBe(expected.size);
    }
  }
  for (const none of [0, 1, 2_001]) expect(byTag.take(none)).toBeUndefined();
  for (const tag of byTag.tags) take(tag);
  expect(byTag.size).toBe(0);
});
