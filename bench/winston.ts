/** What a call of a winston logger costs with the adapter attached, compared with winston alone. */
import { Writable } from "node:stream";
import winston from "winston";
import { winstonLoggers } from "../src/adapters/loggers/winston/index.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { compareCalls } from "./support/calls.ts";

interface Subject {
  readonly root: winston.Logger;
  readonly child: winston.Logger;
  /** A logger at whose name an operator has set a level. */
  readonly quiet: winston.Logger;
}

await compareCalls<Subject>({
  libraries: ["winston"],
  subject(attached) {
    const make = (defaultMeta = {}) => {
      const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
      return winston.createLogger({ transports: [new winston.transports.Stream({ stream })], defaultMeta });
    };
    const root = make();
    const loggers = attached ? new Loggers() : undefined;
    loggers?.attach(winstonLoggers(root));
    const child = root.child({ name: "app.orders" });
    // A level that came and went must leave no trace in the speed of the calls.
    loggers?.setLevel("app.orders", "TRACE");
    loggers?.restoreLevel("app.orders");
    const quiet = make({ name: "quiet" });
    loggers?.setLevel("quiet", "INFO");
    return { root, child, quiet };
  },
  settle: () => new Promise(setImmediate),
  calls: [
    ["disabled call of the root", 100_000, ({ root }) => root.debug("x")],
    ["disabled call of a child", 50_000, ({ child }) => child.debug("x")],
    ["disabled call of log()", 100_000, ({ root }) => root.log("debug", "x")],
    ["disabled call while a level is set", 100_000, ({ quiet }) => quiet.debug("x")],
    ["enabled call while a level is set", 20_000, ({ quiet }) => quiet.info("x")],
    ["enabled call of the root", 20_000, ({ root }) => root.info("x")],
    ["enabled call with metadata", 20_000, ({ root }) => root.info("x", { a: 1 })],
    ["enabled call of log()", 20_000, ({ root }) => root.log("info", "x")],
    ["enabled call of a child", 20_000, ({ child }) => child.info("x")],
    ["isDebugEnabled()", 1_000_000, ({ root }) => root.isDebugEnabled()],
    ["child without a name, as one of a request", 50_000, ({ root }) => root.child({ requestId: 1 })],
    ["child with a name, as one of a request", 50_000, ({ root }) => root.child({ name: "app.orders" })],
  ],
});
