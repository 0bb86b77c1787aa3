import { expect, test, vi } from "vitest";
import { Loggers } from "../../src/loggers/loggers.ts";

test("a listener that throws neither stops a change of a group nor its end, and becomes a warning", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
  try {
    const loggers = new Loggers({ groups: { group: ["a", "b", "c"] } });
    const heard: string[] = [];
    loggers.onChange(() => {
      throw new Error("the chat is down");
    });
    loggers.onChange(({ name, level }) => heard.push(`${name} ${level}`));
    const levels = () => ["group", "a", "b", "c"].map((name) => loggers.get(name)?.configuredLevel);

    loggers.setLevel("group", "DEBUG", { ttlMs: 1_000 });
    expect(levels()).toEqual(["DEBUG", "DEBUG", "DEBUG", "DEBUG"]);
    vi.advanceTimersByTime(1_000);
    expect(levels()).toEqual([undefined, undefined, undefined, undefined]);
    expect(heard).toHaveLength(8);
    expect(warn).toHaveBeenCalledTimes(8);
    expect(warn.mock.calls[0]![0]).toContain("the chat is down");
  } finally {
    warn.mockRestore();
    vi.useRealTimers();
  }
});
