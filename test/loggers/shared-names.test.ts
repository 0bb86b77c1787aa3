import { expect, test } from "vitest";
import type { LoggerAdapter, LoggerHost } from "../../src/loggers/adapter.ts";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import { nativeHandle } from "../support/native-handle.ts";

/** A library whose loggers reach one level, whatever is asked of them. */
function fixedLibrary(kind: string, reached: Level) {
  let given: LoggerHost | undefined;
  const adapter: LoggerAdapter = {
    kind,
    attach: (host) => {
      given = host;
      return () => {};
    },
  };
  return { adapter, host: () => given!, handle: () => nativeHandle(reached, () => reached) };
}

function listed(loggers: Loggers, name: string) {
  return loggers.list().loggers.find((logger) => logger.name === name);
}

test("a name of two libraries is listed as it is when one of them comes or goes", () => {
  const loggers = new Loggers();
  const severe = fixedLibrary("severe", "WARN");
  const verbose = fixedLibrary("verbose", "TRACE");
  for (const { adapter } of [severe, verbose]) loggers.attach(adapter);
  const first = severe.handle();
  const second = verbose.handle();

  severe.host().discovered("a", first);
  expect(listed(loggers, "a")).toMatchObject({ kind: "severe", effectiveLevel: "WARN" });
  verbose.host().discovered("a", second);
  expect(listed(loggers, "a")).toMatchObject({ kind: "severe", effectiveLevel: "TRACE" });
  severe.host().gone(first);
  expect(listed(loggers, "a")).toMatchObject({ kind: "verbose", effectiveLevel: "TRACE" });
  verbose.host().gone(second);
  expect(listed(loggers, "a")).toBeUndefined();
});

test("loggers that come and go beside others like them leave the list as it was built", () => {
  const loggers = new Loggers();
  const library = fixedLibrary("severe", "WARN");
  loggers.attach(library.adapter);
  library.host().discovered("a", library.handle());
  const before = loggers.list();
  const another = library.handle();
  library.host().discovered("a", another);
  library.host().gone(another);
  expect(loggers.list()).toBe(before);
});
