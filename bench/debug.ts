/** What a call of a debug logger costs with the adapter attached, compared with debug alone. */
import createDebug, { type Debugger } from "debug";
import { debugLoggers } from "../src/adapters/loggers/debug/index.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { compareCalls } from "./support/calls.ts";

interface Subject {
  readonly off: Debugger;
  readonly on: Debugger;
  readonly early: Debugger;
}

await compareCalls<Subject>({
  libraries: ["debug"],
  subject(attached) {
    createDebug.log = () => {};
    createDebug.enable("app:on");
    const early = createDebug("app:early");
    early("x");
    const loggers = attached ? new Loggers() : undefined;
    loggers?.attach(debugLoggers(createDebug));
    const [off, on] = [createDebug("app:off"), createDebug("app:on")];
    // A level that came and went must leave no trace in the speed of the calls.
    for (const level of ["DEBUG", undefined] as const) loggers?.setLevel("app", level);
    return { off, on, early };
  },
  calls: [
    ["disabled call", 500_000, ({ off }) => off("x")],
    ["disabled call of a logger made before the adapter", 500_000, ({ early }) => early("x")],
    ["enabled call", 5_000, ({ on }) => on("x")],
    ["enabled call with placeholders", 5_000, ({ on }) => on("%s %o", "x", { a: 1 })],
    ["logger made for one request", 5_000, () => createDebug("app:off")],
  ],
});
