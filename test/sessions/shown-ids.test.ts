import { describe, expect, it } from "vitest";
import { ShownIds } from "../../src/sessions/shown-ids.ts";

const handles = (count: number) => Array.from({ length: count }, (_, index) => `h${index}`);

describe("the ids that were shown", () => {
  it.each([1, 2, 7, 100])(
    "are found again while they are among the last %i, and no more than twice as many",
    (limit) => {
      const shown = new ShownIds(limit);
      for (const [index, handle] of handles(1_000).entries()) {
        shown.remember(handle, `id ${handle}`);
        const last = handles(index + 1).slice(-limit);
        expect(last.map((one) => shown.find(one))).toEqual(last.map((one) => `id ${one}`));
      }
      expect(handles(1_000).filter((handle) => shown.find(handle) !== undefined).length).toBeLessThanOrEqual(2 * limit);
    },
  );

  it("shown again count as shown last", () => {
    const shown = new ShownIds(2);
    shown.remember("a", "1");
    for (const handle of handles(50)) {
      shown.remember(handle, handle);
      shown.remember("a", "1");
      expect(shown.find("a")).toBe("1");
    }
  });

  it("are forgotten, and none is kept where none is to be", () => {
    const shown = new ShownIds(1);
    shown.remember("a", "1");
    shown.remember("b", "2");
    for (const handle of ["a", "b"]) {
      shown.forget(handle);
      expect(shown.find(handle)).toBeUndefined();
    }
    const none = new ShownIds(0);
    none.remember("a", "1");
    expect(none.find("a")).toBeUndefined();
  });
});
