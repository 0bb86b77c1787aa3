import { expect, test } from "vitest";
import type { LoggerHost } from "../../src/loggers/adapter.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../src/loggers/options.ts";
import type { Logger } from "../../src/loggers/view.ts";
import { nativeHandle } from "../support/native-handle.ts";

function application(options: LoggersOptions = {}) {
  const loggers = new Loggers(options);
  let host: LoggerHost | undefined;
  loggers.attach({
    kind: "test",
    attach: (given) => {
      host = given;
      return () => {};
    },
  });
  return { loggers, host: host! };
}

test("a name without a logger is told, with the logger that was probably meant", () => {
  const { loggers, host } = application();
  for (const name of ["shop.orders", "shop:http:router", "stock"]) host.discovered(name, nativeHandle());
  const nearest = (name: string) => loggers.setLevel(name, "DEBUG").notices;
  expect(nearest("orders")).toEqual([
    {
      code: "LOGGER_UNKNOWN",
      message: "No logger is named orders yet; the level applies as soon as one appears",
      nearest: "shop.orders",
    },
  ]);
  expect(nearest("http.router")).toMatchObject([{ nearest: "shop:http:router" }]);
  expect(nearest("shop.oders")).toMatchObject([{ nearest: "shop.orders" }]);
  expect(nearest("something.else")).toMatchObject([{ code: "LOGGER_UNKNOWN", nearest: undefined }]);
  for (const name of ["ROOT", "shop", "shop.http", "stock"]) expect(nearest(name), name).toEqual([]);
});

test("a name without a logger is marked, and leaves the list with its setting", async () => {
  const { loggers, host } = application();
  loggers.setLevel("phantom.a", "DEBUG");
  const { lease } = loggers.holdLevel("held", "DEBUG");
  const marks = () => loggers.list().loggers.map(({ name, exists }) => `${name} ${exists}`);
  expect(marks()).toEqual(["ROOT true", "held false", "phantom false", "phantom.a false"]);
  host.discovered("phantom.a", nativeHandle());
  expect(marks()).toEqual(["ROOT true", "held false", "phantom true", "phantom.a true"]);
  lease.release();
  loggers.restoreLevel("phantom.a");
  expect(marks()).toEqual(["ROOT true", "phantom true", "phantom.a true"]);
});

test("ten thousand names that once had a level do not keep new ones out", () => {
  const { loggers } = application({ maxCreated: 10 });
  for (let index = 0; index < 10; index++) loggers.setLevel(`a${index}`, "DEBUG");
  expect(() => loggers.setLevel("b", "DEBUG")).toThrow(/no more are created/);
  loggers.restoreAllLevels();
  for (let index = 0; index < 10; index++) loggers.setLevel(`b${index}`, "DEBUG");
  expect(loggers.list().loggers).toHaveLength(11);
});

test("250,000 names of loggers that are gone leave no trace", () => {
  const { loggers, host } = application();
  for (let index = 0; index < 250_000; index++) {
    const handle = nativeHandle();
    host.discovered(`request.${index}`, handle, index % 2 ? "DEBUG" : undefined);
    host.gone(handle);
  }
  expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT"]);
});

test("members of a group without loggers are told", () => {
  const { loggers, host } = application({ groups: { web: ["http", "router", "orders.*"] } });
  host.discovered("http", nativeHandle());
  const { notices } = loggers.setLevel("web", "DEBUG");
  expect(notices.map(({ code, message }) => `${code} ${message}`)).toEqual([
    "GROUP_MEMBER_UNKNOWN The group's member router has no logger yet; the level applies as soon as one appears",
    "GROUP_MEMBER_UNKNOWN The group's member orders.* has no logger yet; the level applies as soon as one appears",
  ]);
});

test("a level that is not in effect as it was set is told, with the reason", () => {
  const { loggers, host } = application();
  host.discovered(
    "a",
    nativeHandle("INFO", (level) => (level === "DEBUG" ? "INFO" : level)),
  );
  host.warn("a", "the transport keeps its own level info");
  expect(loggers.setLevel("a", "DEBUG").notices).toEqual([
    {
      code: "PARTLY_APPLIED",
      message: "The level in effect on a is INFO: the transport keeps its own level info",
      nearest: undefined,
    },
  ]);
  expect(loggers.setLevel("a", "WARN").notices).toEqual([]);
});

test("loggers that an adapter found late are told", () => {
  const { loggers, host } = application();
  host.discovered("a", nativeHandle());
  host.older("a");
  expect(loggers.setLevel("a", "DEBUG").notices).toMatchObject([{ code: "LOGGER_OLDER_THAN_ADAPTER" }]);
  expect((loggers.get("a") as Logger).warnings).toEqual([expect.stringMatching(/before the adapter was attached/)]);
});

test.each(["debug", "", undefined, 20])("code cannot set the level %j", (level) => {
  const { loggers } = application();
  if (level !== undefined) {
    expect(() => loggers.setLevel("a", level as never)).toThrow(/level must be one of OFF, FATAL/);
  }
  expect(() => loggers.holdLevel("a", level as never)).toThrow(/level must be one of OFF, FATAL/);
  expect(loggers.list().loggers).toHaveLength(1);
});
