/** What a call of a log4js logger costs with the adapter attached, compared with log4js alone. */
import log4js from "log4js";
import { log4jsLoggers } from "../src/adapters/loggers/log4js/index.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { compareCalls } from "./support/calls.ts";

interface Subject {
  readonly root: log4js.Logger;
  readonly nested: log4js.Logger;
}

await compareCalls<Subject>({
  libraries: ["log4js"],
  subject(attached) {
    const nothing = { configure: () => () => {} };
    log4js.configure({
      appenders: { nothing: { type: nothing } },
      categories: { default: { appenders: ["nothing"], level: "info" } },
    } as unknown as log4js.Configuration);
    const loggers = attached ? new Loggers() : undefined;
    loggers?.attach(log4jsLoggers(log4js));
    const [root, nested] = [log4js.getLogger(), log4js.getLogger("app.orders")];
    // A level that came and went must leave no trace in the speed of the calls.
    loggers?.setLevel("app.orders", "TRACE");
    loggers?.setLevel("app.orders", undefined);
    return { root, nested };
  },
  calls: [
    ["disabled call of the default category", 200_000, ({ root }) => root.debug("x")],
    ["disabled call of a nested category", 200_000, ({ nested }) => nested.debug("x")],
    ["enabled call of the default category", 30_000, ({ root }) => root.info("x")],
    ["enabled call of a nested category", 30_000, ({ nested }) => nested.info("x")],
    ["getLogger() of a known category", 50_000, () => log4js.getLogger("app.orders")],
  ],
});
