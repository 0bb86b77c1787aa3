/** What a call of a LogTape logger costs with the adapter attached, compared with LogTape alone. */
import { configureSync, getLogger, type Logger } from "@logtape/logtape";
import { logtapeLoggers } from "../src/adapters/loggers/logtape/index.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { compareCalls } from "./support/calls.ts";

interface Subject {
  readonly top: Logger;
  readonly deep: Logger;
}

await compareCalls<Subject>({
  libraries: ["@logtape/logtape"],
  subject(attached) {
    configureSync({
      sinks: { none: () => {} },
      loggers: [
        { category: [], sinks: ["none"], lowestLevel: "info" },
        { category: ["logtape", "meta"], lowestLevel: "error" },
      ],
    });
    const loggers = attached ? new Loggers() : undefined;
    loggers?.attach(logtapeLoggers());
    const [top, deep] = [getLogger("app"), getLogger(["app", "orders", "payment", "card"])];
    // A level that came and went must leave no trace in the speed of the calls.
    for (const level of ["TRACE", undefined] as const) loggers?.setLevel("app", level);
    return { top, deep };
  },
  calls: [
    ["disabled call, one part deep", 100_000, ({ top }) => top.debug("x")],
    ["disabled call, four parts deep", 100_000, ({ deep }) => deep.debug("x")],
    ["enabled call, one part deep", 20_000, ({ top }) => top.info("x")],
    ["enabled call, four parts deep", 20_000, ({ deep }) => deep.info("x")],
    ["getLogger() of four parts", 100_000, () => getLogger(["app", "orders", "payment", "card"])],
  ],
});
