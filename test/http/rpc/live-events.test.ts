import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { liveEvents } from "../../../src/http/rpc/streams.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

interface Event {
  readonly name: string;
}

/** A source of what is put into it, and what became of it. */
function source() {
  const queue: (Event | "end" | Error)[] = [];
  let wake = () => {};
  const open = vi.fn((given: () => void) => {
    wake = given;
  });
  const close = vi.fn();
  const take = () => {
    const next = queue.shift();
    if (next instanceof Error) throw next;
    return next;
  };
  const events = liveEvents<Event>({ open, close, take, heartbeat: () => ({ name: "heartbeat" }) }, 1_000);
  const put = (...more: typeof queue) => {
    queue.push(...more);
    wake();
  };
  return { events, open, close, put };
}

describe("live events", () => {
  test("begin when the first is asked for, and then come when there are any", async () => {
    const { events, open, put } = source();
    expect(open).not.toHaveBeenCalled();
    const first = events.next();
    expect(open).toHaveBeenCalledOnce();
    put({ name: "a" }, { name: "b" });
    expect([await first, await events.next()]).toEqual([
      { done: false, value: { name: "a" } },
      { done: false, value: { name: "b" } },
    ]);
    expect(open).toHaveBeenCalledOnce();
  });

  test("have a heartbeat for a reader that waits, and for no other", async () => {
    const { events, put } = source();
    const first = events.next();
    put({ name: "a" });
    await first;
    expect(vi.getTimerCount()).toBe(0);
    const second = events.next();
    vi.advanceTimersByTime(999);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    expect((await second).value).toEqual({ name: "heartbeat" });
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ["its source ends", ({ put }: ReturnType<typeof source>) => put("end")],
    ["it is returned", ({ events }: ReturnType<typeof source>) => void events.return?.()],
  ])("end, and a pending one with them, when %s", async (_, end) => {
    const given = source();
    const pending = given.events.next();
    end(given);
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await given.events.next()).toEqual({ done: true, value: undefined });
    await given.events.return?.();
    expect([given.close.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test("close their source once when it fails, whether somebody waits or not", async () => {
    for (const waiting of [true, false]) {
      const { events, put, close } = source();
      if (waiting) {
        const pending = events.next();
        put(new Error("broken"));
        await expect(pending).rejects.toThrow("broken");
      } else {
        put(new Error("broken"));
        await expect(events.next()).rejects.toThrow("broken");
      }
      expect(await events.next()).toEqual({ done: true, value: undefined });
      expect([close.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
    }
  });

  test("that were never asked for begin and close nothing", async () => {
    const { events, open, close } = source();
    await events.return?.();
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect([open.mock.calls.length, close.mock.calls.length]).toEqual([0, 0]);
  });

  test("that cannot begin fail, and close nothing", async () => {
    const close = vi.fn();
    const open = () => {
      throw new Error("refused");
    };
    const events = liveEvents<Event>({ open, close, take: () => undefined, heartbeat: () => ({ name: "" }) }, 1_000);
    await expect(events.next()).rejects.toThrow("refused");
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(close).not.toHaveBeenCalled();
  });
});
