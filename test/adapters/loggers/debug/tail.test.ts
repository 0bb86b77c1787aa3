import { format } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { debugLoggers } from "../../../../src/adapters/loggers/debug/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { hear } from "../../../support/heard.ts";
import { debugCopy } from "./debug-copy.ts";

function application(pattern = "app:*") {
  const { debug } = debugCopy(pattern);
  const written: string[] = [];
  debug.log = (...args: unknown[]) => void written.push(format(...args));
  const loggers = new Loggers();
  onTestFinished(loggers.attach(debugLoggers(debug)));
  return { debug, written, loggers };
}

test("what is heard is what was written", () => {
  const { debug, written, loggers } = application();
  const log = debug("app:http");
  log("before");
  written.length = 0;
  const { heard } = hear(loggers);
  log("one");
  log("%s of %d, %%, %o", "two", 2, { a: 1 });
  log({ b: 2 });
  log("text", 3, true);
  debug("app:http").extend("in")("extended");
  debug("lib")("no");
  loggers.setLevel("lib", "DEBUG");
  debug("lib")("yes");
  const records = heard();
  expect(records.map(({ logger, message }) => `${logger} ${message}`)).toEqual(written);
  expect(records).toHaveLength(6);
  expect(records[0]).toMatchObject({
    level: "DEBUG",
    nativeLevel: "debug",
    hidden: false,
    fields: {},
    error: undefined,
  });
});

test("objects beside the text are fields, copied at once, and errors have their stack", () => {
  const { debug, loggers } = application();
  const { heard } = hear(loggers);
  const order = { id: 7 };
  const log = debug("app:http");
  log("paid", order, new TypeError("because"));
  order.id = 8;
  expect(heard()).toMatchObject([
    { message: "paid", fields: { id: 7 }, error: { type: "TypeError", message: "because" } },
  ]);
});

test("colours are not heard", () => {
  const { debug, loggers } = application();
  const log = debug("app:http");
  Object.assign(log, { useColors: true });
  const { heard } = hear(loggers);
  log("%o", { a: "text" });
  expect(heard()).toMatchObject([{ message: "{ a: 'text' }" }]);
});

test("a logger with a function of its own is heard; nothing is hidden, with the reason", () => {
  const { debug, loggers } = application();
  const own: unknown[] = [];
  const log = debug("app:http");
  log.log = (text: string) => own.push(text);
  const { heard } = hear(loggers, { hidden: "TRACE" });
  log("one");
  debug("lib")("no");
  expect([own.length, heard().length]).toEqual([1, 1]);
  expect(debugLoggers(debug).hides).toContain("cannot be kept from writing");
});

test("only of wanted loggers and levels, and a sink that logs and throws changes nothing", () => {
  const { debug, written, loggers } = application("app:*,users");
  const take = () => {
    debug("users")("from the sink");
    throw new Error("sink");
  };
  const { heard, stop } = hear(loggers, { names: ["app:http"], take });
  for (const name of ["app:http", "users"]) debug(name)("x");
  expect(heard()).toHaveLength(1);
  expect(written).toEqual(["users from the sink", "app:http x", "users x"]);
  stop();
  const info = hear(loggers, { level: "INFO" });
  debug("app:http")("x");
  expect(info.heard()).toEqual([]);
});

test("after 50 rounds everything is as before, also of two actuators", () => {
  const { debug, written, loggers } = application();
  const other = new Loggers();
  onTestFinished(other.attach(debugLoggers(debug)));
  const log = debug("app:http");
  const state = () => [debug, log].map((owner) => [Object.getOwnPropertyDescriptors(owner), Reflect.ownKeys(owner)]);
  log("x");
  for (let round = 0; round < 50; round++) {
    const before = debug.formatArgs;
    const keys = state().map(([, keys]) => keys);
    const [one, two] = [hear(loggers), hear(other)];
    expect(debug.formatArgs).not.toBe(before);
    log("x");
    one.stop();
    log("x");
    expect([one.heard().length, two.heard().length]).toEqual([1, 2]);
    two.stop();
    expect(debug.formatArgs).toBe(before);
    expect(state().map(([, keys]) => keys)).toEqual(keys);
  }
  expect(written).toHaveLength(101);
});
