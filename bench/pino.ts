/** What a call of a pino logger costs with the adapter attached, compared with pino alone. */
import { type Logger, pino } from "pino";
import { pinoLoggers } from "../src/adapters/loggers/pino/index.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { compareCalls } from "./support/calls.ts";

interface Subject {
  readonly root: Logger;
  readonly child: Logger;
}

await compareCalls<Subject>({
  libraries: ["pino"],
  subject(attached) {
    const root = pino({ base: null }, { write: () => {} });
    const loggers = attached ? new Loggers() : undefined;
    loggers?.attach(pinoLoggers(root));
    const child = root.child({ name: "app.orders" });
    // A level that came and went must leave no trace in the speed of the calls.
    loggers?.setLevel("app.orders", "TRACE");
    loggers?.setLevel("app.orders", undefined);
    return { root, child };
  },
  calls: [
    ["disabled call of the root", 2_000_000, ({ root }) => root.debug("x")],
    ["disabled call of a child", 2_000_000, ({ child }) => child.debug("x")],
    ["enabled call of the root", 50_000, ({ root }) => root.info("x")],
    ["enabled call of a child", 50_000, ({ child }) => child.info("x")],
    ["child without a name, as one of a request", 50_000, ({ root }) => root.child({ reqId: 1 })],
    // Weak references keep what they refer to until the end of a turn, so a round is not much longer than a request.
    ["a child with a name, of that one", 1_000, ({ root }) => root.child({ reqId: 1 }).child({ module: "db" })],
  ],
});
